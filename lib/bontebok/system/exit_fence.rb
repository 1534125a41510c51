# frozen_string_literal: true

module Bontebok
  # Exit handlers run where they were registered. A forked process inherits those of its parent; under rackup they are
  # also what rackup and Rails clean up behind the server: the pid file would be gone with the first worker that is
  # replaced.
  module ExitFence
    class << self
      # In a forked process, before anything else: what is registered from now on runs at its exit, and at that of the
      # processes that it forks; what was registered before does not. Handlers run in reverse order: this one is the
      # last that does, and does the rest as Ruby would.
      def put
        at_exit do
          exception = $! # rubocop:disable Style/SpecialGlobalVars
          end_threads
          remove_temporary_files
          flush
          leave(exception)
        end
      end

      # Around code of the application. A process that it forks there does not come back: it would go on as the server's
      # process that it is a copy of. It ends with the status of its exit, and its buffers are flushed.
      def keep_forks_out
        owner = Process.pid
        result = yield
        Process.pid == owner ? result : end_fork(nil)
      rescue Exception => e # rubocop:disable Lint/RescueException
        Process.pid == owner ? raise : end_fork(e)
      end

      private

      def end_fork(exception)
        flush
        leave(exception)
      end

      def end_threads
        others = Thread.list - [Thread.current]
        others.each(&:kill)
        others.each { |thread| wait_for(thread) }
      end

      def wait_for(thread)
        thread.join
      rescue Exception # rubocop:disable Lint/RescueException
        nil # what it died of
      end

      # Finalizers would: uploads, as a rule. The name tells who has made one: those of the parent stay.
      def remove_temporary_files
        return unless defined?(Tempfile)

        ObjectSpace.each_object(Tempfile) do |file|
          file.close! if file.path&.include?("-#{Process.pid}-")
        rescue SystemCallError, IOError
          next
        end
      end

      def flush
        ObjectSpace.each_object(IO) do |io|
          io.flush unless io.closed?
        rescue SystemCallError, IOError
          next # nobody reads it any more, or it is not open yet
        end
      end

      def leave(exception)
        case exception
        when nil then exit!(0)
        when SystemExit then exit!(exception.status)
        when SignalException then end_by(exception.signo)
        else
          warn(exception.full_message)
          exit!(1)
        end
      end

      def end_by(signal)
        Signal.trap(signal, "SYSTEM_DEFAULT")
        Process.kill(signal, Process.pid)
        sleep
      end
    end
  end
end
