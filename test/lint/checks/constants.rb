# frozen_string_literal: true

require_relative "objects/ruby_tree"

module Lint
  # Checks that Ruby finds each constant of lib/ where lib/ names it. Ruby raises NameError only when the line runs.
  class Constants
    def initialize(root)
      @tree = RubyTree.new(root)
    end

    def faults
      unseen + lacking
    end

    private

    def unseen
      own = @tree.defined.keys.map { |full| full[/\w+\z/] }.uniq
      @tree.uses.map { |use| [use.path[/\A\w+/], use] }.select { |name, use| own.include?(name) && unseen?(name, use) }
           .map { |name, use| "#{use.file}: #{use.scopes.first || "the top"} does not see #{name}" }.uniq
    end

    # The extension and gems define constants in the modules at the top.
    def lacking
      @tree.uses.map { |use| [use, @tree.resolve(use.path, use.scopes)] }
           .select { |use, full| @tree.modules.key?(full) && full.include?("::") && full[/\w+\z/] != use.path[/\w+\z/] }
           .map { |use, full| "#{use.file}: #{full} lacks #{use.path[/\w+\z/]}" }.uniq
    end

    # Names that only Ruby and gems define are found. A name that the top has is found everywhere.
    def unseen?(name, use)
      !Object.const_defined?(name) && @tree.resolve(name, use.scopes).nil?
    end
  end
end
