# frozen_string_literal: true

require "json"

require_relative "../../config/supervisor_config"
require_relative "../../sockets/channel"
require_relative "../../sockets/passed_listeners"
require_relative "../../start_error"
require_relative "../../sockets/passed_variable"
require_relative "../../version"
require_relative "../pidfile"

module Bontebok
  class Supervisor
    # What a supervisor passes to the program that it executes in its place (see Replacement and Resumption): a Hash
    # with values of JSON. Descriptors are numbers in it.
    class State
      # The environment variable with the state.
      VARIABLE = "BONTEBOK_SUPERVISOR_STATE"
      # The version of the state. A program with another version does not take the supervisor's place.
      PROTOCOL = 1
      # The types of the values, as far as all versions of the state have them.
      TYPES = { "protocol" => [Integer], "version" => [String], "masters" => [Array], "listeners" => [Array],
                "links" => [Array], "control" => [Array, nil], "life_line" => [Array, nil], "pidfile" => [String, nil],
                "former" => [Hash, nil], "failure" => [String, nil] }.freeze
      # The types of the other values.
      OWN_TYPES = { "config" => [Hash], "user" => [Array], "directory" => [String], "umask" => [Integer],
                    "generation" => [Integer], "serving" => [Array], "workers" => [Integer], "stored" => [true, false],
                    "shared" => [true, false], "signals" => [Array, nil], "ignored" => [Array, nil],
                    "spare" => [Integer, nil], "restart_file" => [Array, nil], "metrics" => [Array, nil] }.freeze

      class << self
        # Removes the variable from env. Raises UsageError.
        def take(env)
          PassedVariable.read(env, VARIABLE, "the state of a supervisor") do |text|
            new(PassedVariable.json(text)).tap(&:check_types)
          end
        end

        # Raises JSON::GeneratorError.
        def of(values)
          new(JSON.parse(JSON.generate({ "protocol" => PROTOCOL, "version" => VERSION, **values })))
        end

        # What these parts of a supervisor know, and others. masters: the Generations. Raises JSON::GeneratorError.
        def gather(config, listeners, deploys, masters, **others)
          of("config" => SupervisorConfig.dump(config), "user" => config.account.ids, "umask" => File.umask,
             "pidfile" => Pidfile.held, "generation" => deploys.number, "serving" => deploys.serving.to_a.first(2),
             "workers" => masters.workers,
             "masters" => masters.carry.map { |state, channel| [state, channel.to_io.fileno] },
             "listeners" => PassedListeners.number(listeners), "stored" => listeners.stored?,
             **numbers_of_links(listeners.worker_links), **others)
        end

        private

        def numbers_of_links(links)
          { "links" => links.descriptors.map(&:fileno), "shared" => links.pids.any?,
            "metrics" => links.totals.descriptors.map(&:fileno) }
        end
      end

      def initialize(values)
        @values = values
      end

      # Raises StartError if the supervisor has another version of the state.
      def check
        return if @values["protocol"] == PROTOCOL

        raise StartError, "this version cannot take the place of bontebok #{@values['version']}: restart the server"
      end

      # Raises TypeError, ArgumentError or SystemCallError if the values are no state, or if a descriptor is not open.
      def check_types
        PassedVariable.checked(@values, TYPES)
        PassedVariable.checked(@values, OWN_TYPES) if @values["protocol"] == PROTOCOL
        PassedListeners.check([*@values["listeners"], *@values["control"]])
        descriptors(&:close_on_exec?)
      end

      def [](name) = @values[name]

      def fetch(name) = @values.fetch(name)

      def values_at(*names) = @values.values_at(*names)

      # Returns a State with some other values.
      def with(values)
        State.new(@values.merge(values))
      end

      # The variable for the program that is executed.
      def variable
        { VARIABLE => JSON.generate(@values) }
      end

      # How many descriptors the state has.
      def size = numbers.size

      # Lets a program that is executed inherit the descriptors, or not.
      def pass_descriptors(pass: true)
        descriptors { |io| io.close_on_exec = !pass }
      end

      # Closes the descriptors when all are copied.
      def close
        descriptors { |io| io.tap { io.autoclose = true }.close }
      end

      # IO objects with copies of the descriptors in the value. kind: their class.
      def copies(name, kind = IO)
        [*@values[name]].map { |number| copy(number, kind) }
      end

      # The listeners in the value.
      def listeners(name)
        descriptions = [*@values[name]]
        PassedListeners.take(descriptions, descriptions.map { |one| copy(one.fetch("fd")) }).each(&:take_over)
      end

      # [[state, Channel], ...]: see Generations#carry.
      def masters
        @values.fetch("masters").map { |state, number| [state, Channel.copy(number)] }
      end

      private

      def copy(number, kind = IO)
        kind.for_fd(number).tap { |io| io.autoclose = false }.dup
      end

      def descriptors
        numbers.each { |number| yield IO.for_fd(number, autoclose: false) }
      end

      def numbers
        listeners = [*@values["listeners"], *@values["control"]].map { |listener| listener["fd"] }
        [*@values.values_at("links", "metrics", "life_line", "client", "answer"), listeners,
         @values["masters"].map { |_state, number| number }].flatten.compact
      end
    end
  end
end
