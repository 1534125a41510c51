# frozen_string_literal: true

require_relative "exceptions"
require_relative "ruby_tree"

module Lint
  # Reports code of lib/ that reaches into another object. A module reads an instance variable that it does not assign.
  # A method of FORCING calls what is private in another object. An object gives one of its methods away, so another
  # object calls back into its owner. WholeClasses has the modules that are in one class only.
  class ForeignState
    FORCING = %i[instance_variable_get instance_variable_set instance_eval instance_exec send __send__].freeze
    # { name of a module, or file and called method => reason }
    LISTED = {
      "lib/bontebok/cli/control_command.rb method" => "bontebok status connects again if the server is replaced",
      "lib/bontebok/config/config_file.rb instance_eval" => "a file is code of the object with its directives",
      "lib/bontebok/workers/lanes.rb method" => "the binding tells what a lane cannot decide, and asks for error pages",
      "lib/bontebok/workers/readiness_check.rb method" => "the binding wants a callable that it tells of exceptions"
    }.freeze

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
        next unless node.receiver ? forces?(node) : node.method?(:method) && node.first_argument&.sym_type?

        ["#{file} #{node.method_name}", "#{file}:#{node.first_line} calls #{node.source}"]
      end.to_h
    end

    # The send of a socket ends with flags, and calls no method.
    def forces?(node)
      FORCING.include?(node.method_name) && !node.receiver.self_type? &&
        !(node.method?(:send) && %i[int const].include?(node.last_argument&.type))
    end
  end
end
