# frozen_string_literal: true

require_relative "clock"

module Bontebok
  # The main thread of a process of the server, where the application has threads of its own. Ruby raises in the main
  # thread what ends another one: SystemExit always (a watchdog that calls exit), any other error where
  # abort_on_exception is set. That must not end the process, nor come between two steps of ours.
  module MainThread
    class << self
      # While the block runs such an exception waits until .wait is called.
      def guard(&)
        Thread.handle_interrupt(Exception => :never, &)
      end

      # For what is not ours: a thread that is started under guard, and inherits that; a handler of the application's,
      # and what that starts.
      def unguard(&)
        Thread.handle_interrupt(Exception => :immediate, &)
      end

      # Waits until one of the sources is readable. Returns those that are; nil when the time is over. When an exception
      # comes instead it is given to the block, and none is readable.
      def wait(sources, seconds)
        readable, = Clock.wait(seconds) { unguard { IO.select(sources, nil, nil, seconds) } }
        readable
      rescue Exception => e # rubocop:disable Lint/RescueException
        raise if sources.any? { |source| broken?(source) }

        yield e
        []
      end

      # For a process that goes on as if nothing had happened.
      def survive(exception, log)
        thread = origin(exception)
        name = thread ? "the thread #{thread.inspect[/0x\h+[@ ](.*) \w+>/, 1]}" : "a thread"
        log.error("#{name} of the application would end this process, which goes on", exception)
      end

      private

      # The thread that has ended with the exception; nil: another one has only raised it here.
      def origin(exception)
        ObjectSpace.each_object(Thread).find { |thread| thread.status.nil? && ended_with?(thread, exception) }
      end

      def ended_with?(thread, exception)
        thread.join && false
      rescue Exception => e # rubocop:disable Lint/RescueException
        e.equal?(exception)
      end

      # The application has closed what is ours: no wait would succeed any more.
      def broken?(source)
        source.to_io.closed? || source.to_io.stat.nil?
      rescue SystemCallError
        true
      end
    end
  end
end
