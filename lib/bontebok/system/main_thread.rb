# frozen_string_literal: true

require_relative "clock"

module Bontebok
  # Protects the main thread of a server's process from the application's threads. When another thread ends with an
  # exception, Ruby raises the exception in the main thread, too: SystemExit always (a watchdog that calls exit), any
  # other error if abort_on_exception is set. Such an exception must neither end the process nor interrupt the server's
  # own code.
  module MainThread
    class << self
      # While the block runs, such an exception waits until .wait is called.
      def guard(&)
        Thread.handle_interrupt(Exception => :never, &)
      end

      # Lets exceptions interrupt the block. For a hook of the application, and for a thread that has inherited the
      # guard.
      def unguard(&)
        Thread.handle_interrupt(Exception => :immediate, &)
      end

      # Waits until one of the sources is readable, for `seconds` at most; nil: for any time. Returns the readable
      # sources; nil: the time is over. If an exception comes instead, the block gets the exception, and the result is
      # empty. Raises the exception if the application has closed one of the sources.
      def wait(sources, seconds)
        readable, = Clock.wait(seconds) { unguard { IO.select(sources, nil, nil, seconds) } }
        readable
      rescue Exception => e # rubocop:disable Lint/RescueException
        raise if sources.any? { |source| broken?(source) }

        yield e
        []
      end

      # Logs the exception, for a process that goes on as if nothing had happened.
      def survive(exception, log)
        thread = origin(exception)
        name = thread ? "the thread #{thread.inspect[/0x\h+[@ ](.*) \w+>/, 1]}" : "a thread"
        log.error("#{name} of the application raised an exception; this process continues", exception)
      end

      private

      # The thread that has ended with the exception; nil: no thread has; a thread that lives has raised the exception
      # here.
      def origin(exception)
        ObjectSpace.each_object(Thread).find { |thread| thread.status.nil? && ended_with?(thread, exception) }
      end

      def ended_with?(thread, exception)
        thread.join && false
      rescue Exception => e # rubocop:disable Lint/RescueException
        e.equal?(exception)
      end

      # Whether the application has closed the server's descriptor: no wait for it would succeed.
      def broken?(source)
        source.to_io.closed? || source.to_io.stat.nil?
      rescue SystemCallError
        true
      end
    end
  end
end
