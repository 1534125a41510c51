# frozen_string_literal: true

require_relative "replaced_methods"

module Bontebok
  # Refuses calls by which code of the application would end or replace the process that loads it. These calls run no
  # exit handler and no ensure, so nothing would be logged, and the pid file would stay. Processes that this code forks
  # may make the calls. `exit` and `abort` raise SystemExit, which is handled like any exception.
  # See docs/decisions/0024-code-that-loads-cannot-end-its-process.md.
  module LoadingFence
    # The end of a message: what the call would do, and what to do instead.
    ADVICE = {
      daemon: "would end the server's process. Leave the call out: systemd or nohup runs the server in the background",
      exec: "would replace the server's process. Use spawn or system",
      exit!: "would end the server's process. Raise an exception"
    }.freeze
    # Ruby's own methods are still available under names with this prefix.
    KEPT = "bontebok_free_"
    # The name of a thread variable: the pid of the process that the thread must not end.
    KEY = :bontebok_loading
    OWN_DIRECTORY = "#{File.expand_path("../..", __dir__)}/".freeze
    private_constant :KEPT, :KEY, :OWN_DIRECTORY

    # Methods for Kernel and Process.
    module Ends
      def exec(*arguments)
        LoadingFence.check(:exec)
        bontebok_free_exec(*arguments)
      end

      def exit!(*status)
        LoadingFence.check(:exit!)
        bontebok_free_exit!(*status)
      end
    end

    # Methods for Process alone.
    module Daemon
      def daemon(*arguments)
        LoadingFence.check(:daemon)
        bontebok_free_daemon(*arguments)
      end
    end
    private_constant :Ends, :Daemon

    class << self
      # Runs the block, in which the calls of this thread raise RuntimeError.
      def guard
        install unless @installed
        former = Thread.current.thread_variable_get(KEY)
        Thread.current.thread_variable_set(KEY, Process.pid)
        yield
      ensure
        Thread.current.thread_variable_set(KEY, former)
      end

      # The server itself may end the process meanwhile, in a signal handler.
      def check(name)
        return unless Thread.current.thread_variable_get(KEY) == Process.pid

        places = caller_locations(2).drop_while { |place| place.path.start_with?(__dir__) } # CommandLimits
        return if places.first.path.start_with?(OWN_DIRECTORY)

        raise RuntimeError, "#{'Process.' if name == :daemon}#{name} #{ADVICE.fetch(name)}", places.map(&:to_s)
      end

      private

      def install
        @installed = true
        ReplacedMethods.replace(Ends, KEPT, Kernel, Kernel.singleton_class, Process.singleton_class)
        ReplacedMethods.replace(Daemon, KEPT, Process.singleton_class)
      end
    end
  end
end
