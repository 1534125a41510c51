# frozen_string_literal: true

require_relative "clock"

module Bontebok
  # Protects the main thread of a server's process from the application's threads. When another thread ends with an
  # exception, Ruby may raise the exception in the main thread as well: always if the thread calls exit (SystemExit),
  # otherwise if abort_on_exception is set. It must not end the process, or interrupt the server's code.
  module MainThread
    class << self
      # While the block runs, exceptions of other threads are delayed until .wait is called.
      def guard(&)
        Thread.handle_interrupt(Exception => :never, &)
      end

      # Lets exceptions interrupt the block. For hooks, and for threads that have inherited the guard.
      def unguard(&)
        Thread.handle_interrupt(Exception => :immediate, &)
      end

      # Waits until one of the sources is readable, at most `seconds`; nil: no limit. Returns the readable sources, or
      # nil after the timeout. If an exception ends the wait, the block gets the exception, and the result is empty.
      # Raises the exception if the application has closed one of the sources.
      def wait(sources, seconds)
        readable, = Clock.wait(seconds) { unguard { IO.select(sources, nil, nil, seconds) } }
        readable
      rescue Exception => e # rubocop:disable Lint/RescueException
        raise if sources.any? { |source| broken?(source) }

        yield e
        []
      end

      # Logs the exception. The process continues.
      def survive(exception, log)
        thread = origin(exception)
        name = thread ? "the thread #{thread.inspect[/0x\h+[@ ](.*) \w+>/, 1]}" : "a thread"
        log.error("#{name} of the application raised an exception; this process continues", exception)
      end

      private

      # The thread that has ended with the exception. nil: a running thread has raised the exception in the main thread.
      def origin(exception)
        ObjectSpace.each_object(Thread).find { |thread| thread.status.nil? && ended_with?(thread, exception) }
      end

      def ended_with?(thread, exception)
        thread.join && false
      rescue Exception => e # rubocop:disable Lint/RescueException
        e.equal?(exception)
      end

      # True if the application has closed the source. Every wait for a closed source fails.
      def broken?(source)
        source.to_io.closed? || source.to_io.stat.nil?
      rescue SystemCallError
        true
      end
    end
  end
end
