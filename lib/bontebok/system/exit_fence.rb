# frozen_string_literal: true

module Bontebok
  # Keeps exit handlers out of processes that they are not meant for. A forked process inherits the handlers of its
  # parent. Under rackup these include the handlers with which rackup and Rails clean up after the server: the first
  # worker that is replaced would remove the pid file.
  module ExitFence
    class << self
      # Call it in a forked process before anything else. Exit handlers that were registered earlier do not run in this
      # process, nor in processes that it forks. Handlers that are registered later do run. Ruby runs exit handlers in
      # reverse order, so the handler of this method runs after the later ones. It does the rest of an exit as Ruby
      # would, and ends the process.
      def put
        at_exit do
          exception = $! # rubocop:disable Style/SpecialGlobalVars
          end_threads
          remove_temporary_files
          flush
          leave(exception)
        end
      end

      # Runs the block, which is code of the application. A process that the block forks does not return from here: it
      # would go on as a copy of the server's process. Such a process flushes its buffers and ends with its own exit
      # status.
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
        nil # the exception that ended the thread
      end

      # exit! skips finalizers, which would remove these files. Most of them are uploads. The name of a file contains
      # the pid of the process that made it; files of the parent stay.
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
          next # the reader is gone, or the stream is not open yet
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
