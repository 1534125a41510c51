# frozen_string_literal: true

require_relative "../system/exit_fence"

module Bontebok
  # The hooks: blocks of a configuration file that the server runs at certain events. Hooks with the same name run in
  # the order of the file. Each hook gets only as many arguments as it accepts.
  class Hooks
    # Raised if a hook has raised an exception. #cause is that exception.
    class Failed < StandardError; end

    # The worker, as an argument of a hook. pid is nil before the worker is forked. requests: the number of requests
    # that the worker has served, for before_worker_exit; 0 for other hooks.
    Worker = Struct.new(:number, :pid, :requests) do
      def initialize(number, pid = nil, requests = 0) = super
    end

    NAMES = %i[before_fork after_worker_fork after_fork after_worker_ready before_thread_start before_thread_exit
               before_worker_drain before_worker_exit after_worker_exit on_booted after_stopped on_error
               out_of_band].freeze

    # The parameters of a Proc that is made from a Symbol, such as &:name. This Proc gets only one argument, because it
    # would pass all other arguments on to the method.
    OF_A_SYMBOL = [[:req], [:rest]].freeze

    Entry = Struct.new(:hook, :directive, :arguments)
    private_constant :Entry, :OF_A_SYMBOL

    # A hook that runs only the first time; nil for nil.
    def self.once(hook)
      over = false
      hook && lambda { |*arguments|
        hook.call(*arguments) unless over
        over = true
      }
    end

    def initialize
      @hooks = NAMES.to_h { |name| [name, []] }
    end

    # hook: responds to `call`. directive: the hook's name in the file. The block, if given, gets the arguments of #run
    # and returns the arguments for the hook. Raises KeyError for an unknown name.
    def add(name, hook, directive: name, &arguments)
      @hooks.fetch(name) << Entry.new(hook, directive, arguments)
    end

    # Removes the hooks of this name that have this name in the file.
    def remove(name, directive)
      @hooks.fetch(name).reject! { |entry| entry.directive == directive }
    end

    # The names of all hooks in the file.
    def directives
      @hooks.values.flatten.map(&:directive).uniq
    end

    def any?(name)
      @hooks.fetch(name).any?
    end

    # Runs all hooks of a name and returns the value of the last hook. If a hook raises, raises Failed and runs no more
    # hooks.
    def run(name, *arguments)
      @hooks.fetch(name).map { |entry| call(entry, arguments) }.last
    end

    # Like #run, but if a hook raises, the exception is logged and the next hook runs.
    def attempt(name, *arguments, log:)
      @hooks.fetch(name).map do |entry|
        call(entry, arguments)
      rescue Failed => e
        log.error(e.message, e.cause)
        nil
      end.last
    end

    private

    # Raises Failed if the hook raises an exception, also for SystemExit. Only SignalException and NoMemoryError are
    # raised unchanged.
    def call(entry, arguments)
      arguments = entry.arguments.call(*arguments) if entry.arguments
      ExitFence.keep_forks_out { entry.hook.call(*taken(entry.hook, arguments)) }
    rescue SignalException, NoMemoryError
      raise
    rescue Exception # rubocop:disable Lint/RescueException
      raise Failed, "the hook #{entry.directive} failed"
    end

    # The arguments that the hook accepts. A block ignores additional arguments; a lambda or a method would raise.
    def taken(hook, arguments)
      callable = hook.respond_to?(:parameters) ? hook : hook.method(:call)
      return arguments.first(1) if callable.parameters == OF_A_SYMBOL

      kinds = callable.parameters.map(&:first)
      return arguments if kinds.include?(:rest) || (callable.is_a?(Proc) && !callable.lambda?)

      arguments.first(kinds.count { |kind| %i[req opt].include?(kind) })
    end
  end
end
