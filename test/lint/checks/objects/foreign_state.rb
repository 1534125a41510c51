# frozen_string_literal: true

require_relative "exceptions"
require_relative "ruby_tree"

module Lint
  # Reports code of lib/ that uses the state of another object: a module with an instance variable that it does not
  # assign, and a call of another object by a method of FORCING, which ignore what is private. WholeClasses has the
  # modules that are in one class only.
  class ForeignState
    FORCING = %i[instance_variable_get instance_variable_set send __send__].freeze
    # { name of a module, or file and method => reason }
    LISTED = { "Bontebok::Control" => "is rewritten", "Bontebok::HangUp" => "is rewritten" }.freeze

    def initialize(root, listed: LISTED)
      @tree = RubyTree.new(root)
      @listed = listed
    end

    def faults
      Exceptions.faults(variables.merge(calls), @listed)
    end

    private

    def variables
      mixed = @tree.modules.keys.flat_map { |full| @tree.parents(full) }.tally
      modules = @tree.modules.values.select { |one| one.module? && mixed[one.name] != 1 }
      modules.to_h { |one| [one, one.reads - one.assigns] }.reject { |_, foreign| foreign.empty? }
             .to_h { |one, foreign| [one.name, "#{one.name} reads #{foreign.join(" ")}, and does not assign it"] }
    end

    def calls
      @tree.calls.filter_map do |file, node|
        next unless FORCING.include?(node.method_name) && another?(node)

        ["#{file} #{node.method_name}", "#{file}:#{node.first_line} calls #{node.source}"]
      end.to_h
    end

    # The send of a socket ends with flags, and calls no method.
    def another?(node)
      node.receiver && !node.receiver.self_type? &&
        !(node.method?(:send) && %i[int const].include?(node.last_argument&.type))
    end
  end
end
