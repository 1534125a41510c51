# frozen_string_literal: true

require_relative "objects/ruby_tree"

module Lint
  # Checks that Ruby finds each constant of lib/ where lib/ names it. Ruby raises NameError only when the line runs.
  class Constants
    def initialize(root)
      @tree = RubyTree.new(root)
    end

    def faults
      own = @tree.defined.keys.map { |full| full[/\w+\z/] }.uniq
      @tree.uses.map { |use| [use.path[/\A\w+/], use] }.select { |name, use| own.include?(name) && unseen?(name, use) }
           .map { |name, use| "#{use.file}: #{use.scopes.first || "the top"} does not see #{name}" }.uniq
    end

    private

    # Names that only Ruby and gems define are found. A name that the top has is found everywhere.
    def unseen?(name, use)
      !Object.const_defined?(name) && @tree.resolve(name, use.scopes).nil?
    end
  end
end
