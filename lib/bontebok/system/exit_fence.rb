# frozen_string_literal: true

require_relative "encodings/output"
require_relative "replaced/loading_fence"

module Bontebok
  # Prevents inherited exit handlers (at_exit) from running in a forked process. Under rackup, the inherited handlers
  # include those of rackup and Rails, which clean up after the server. If they ran in a worker, the first worker that
  # ends would remove the pid file.
  module ExitFence
    class << self
      # Must be called first in a forked process. Exit handlers that were registered before the call do not run in this
      # process or in processes that it forks. Handlers that are registered after the call run. Ruby runs exit handlers
      # in reverse order, so the handler of this method runs between them. It does the rest of Ruby's exit.
      def put
        at_exit do
          exception = $! # rubocop:disable Style/SpecialGlobalVars
          begin
            end_threads
            remove_temporary_files
          ensure
            end_process(exception)
          end
        end
      end

      # Runs the block, which is code of the application. If the block forks a process, and that process reaches the end
      # of the block, it flushes its buffers and ends with its own exit status. Otherwise that process would continue as
      # a copy of the server's process. The block cannot end this process (LoadingFence).
      def keep_forks_out(&)
        owner = Process.pid
        LoadingFence.guard(&)
      rescue Exception => e # rubocop:disable Lint/RescueException
        exception = e
        raise
      ensure
        end_process(exception) unless Process.pid == owner # also after a throw
      end

      private

      # Ends the process, whatever objects of the application raise.
      def end_process(exception)
        flush
      ensure
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

      # Removes the temporary files of this process (mostly uploads), because exit! skips the finalizers that would
      # remove them. The name of a file contains the pid of the process that created the file. Files of the parent stay.
      def remove_temporary_files
        return unless defined?(Tempfile)

        ObjectSpace.each_object(Tempfile) do |file|
          file.close! if file.path&.include?("-#{Process.pid}-")
        rescue StandardError
          next
        end
      end

      def flush
        ObjectSpace.each_object(IO) do |io|
          io.flush unless io.closed?
        rescue StandardError
          next # the reader is gone, the stream is not open yet, or it has methods of the application
        end
      end

      def leave(exception)
        case exception
        when nil then exit!(0)
        when SystemExit then exit!(exception.status)
        when SignalException then end_by(exception.signo)
        else Output.write($stderr, "#{exception.full_message.chomp}\n") # warn is silent under ruby -W0
        end
      ensure
        exit!(1)
      end

      # Returns if the signal ends no process, such as SIGCHLD.
      def end_by(signal)
        Signal.trap(signal, "SYSTEM_DEFAULT")
        Process.kill(signal, Process.pid)
      end
    end
  end
end
