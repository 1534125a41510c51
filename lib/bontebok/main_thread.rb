# frozen_string_literal: true

module Bontebok
  # The main thread of a process that serves, for Worker and SingleProcess. Ruby raises in it what ends a thread of the
  # application: SystemExit always (a watchdog that calls exit), any other error where abort_on_exception is set. That
  # is not to end the process while requests are in flight, nor to come between two steps of ours.
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
        readable, = unguard { IO.select(sources, nil, nil, seconds) }
        readable
      rescue Exception => e # rubocop:disable Lint/RescueException
        raise if sources.any? { |source| broken?(source) }

        yield e
        []
      end

      private

      # The application has closed what is ours: no wait would succeed any more.
      def broken?(source)
        source.to_io.closed? || source.to_io.stat.nil?
      rescue SystemCallError
        true
      end
    end
  end
end
