# frozen_string_literal: true

require_relative "../system/exit_fence"

module Bontebok
  # The blocks of code that a configuration file gives for moments in the life of the server. A file may give several
  # for one moment; they run in the order in which it names them, each with as many of the arguments as it takes.
  class Hooks
    # A hook has raised; #cause is what.
    class Failed < StandardError; end

    # What a hook is told of a worker. pid is nil before it is forked.
    Worker = Struct.new(:number, :pid)

    NAMES = %i[before_fork after_worker_fork after_fork after_worker_ready before_thread_start before_thread_exit
               before_worker_exit after_worker_exit on_booted after_stopped on_error out_of_band].freeze

    # The parameters of &:message, which passes all that it gets but the first on to the method.
    OF_A_SYMBOL = [[:req], [:rest]].freeze

    Entry = Struct.new(:hook, :arguments)
    private_constant :Entry, :OF_A_SYMBOL

    def initialize
      @hooks = NAMES.to_h { |name| [name, []] }
    end

    # hook: responds to call. A block makes of our arguments, which it is given, those that the hook expects. Raises
    # KeyError when there is no such moment.
    def add(name, hook, &arguments)
      @hooks.fetch(name) << Entry.new(hook, arguments)
    end

    # The same, in place of those that are there.
    def replace(name, hook, &arguments)
      @hooks.fetch(name).clear
      add(name, hook, &arguments)
    end

    def any?(name)
      @hooks.fetch(name).any?
    end

    # Runs all of a moment and returns what the last one returns. The first that raises ends it: raises Failed.
    def run(name, *arguments)
      @hooks.fetch(name).map { |entry| call(name, entry, arguments) }.last
    end

    # The same, for moments in which nothing can be stopped any more: one that raises is logged, the others run.
    def attempt(name, *arguments, log:)
      @hooks.fetch(name).map do |entry|
        call(name, entry, arguments)
      rescue Failed => e
        log.error(e.message, e.cause)
        nil
      end.last
    end

    private

    # Whatever it raises, an exit as well: it is the hook that fails, not what it runs in.
    def call(name, entry, arguments)
      arguments = entry.arguments.call(*arguments) if entry.arguments
      ExitFence.keep_forks_out { entry.hook.call(*taken(entry.hook, arguments)) }
    rescue SignalException, NoMemoryError
      raise
    rescue Exception # rubocop:disable Lint/RescueException
      raise Failed, "the hook #{name} failed"
    end

    # A block takes what it wants by itself; a lambda or an object's method would complain.
    def taken(hook, arguments)
      callable = hook.respond_to?(:parameters) ? hook : hook.method(:call)
      return arguments.first(1) if callable.parameters == OF_A_SYMBOL

      kinds = callable.parameters.map(&:first)
      return arguments if kinds.include?(:rest) || (callable.is_a?(Proc) && !callable.lambda?)

      arguments.first(kinds.count { |kind| %i[req opt].include?(kind) })
    end
  end
end
