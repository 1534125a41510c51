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

      # For a thread that is started under guard, and inherits that.
      def unguard(&)
        Thread.handle_interrupt(Exception => :immediate, &)
      end

      # Waits until one of the sources is readable. Returns those that are; nil when the time is over. When an exception
      # comes instead it is given to the block, and none is readable.
      def wait(sources, seconds)
        readable, = Thread.handle_interrupt(Exception => :on_blocking) { IO.select(sources, nil, nil, seconds) }
        readable
      rescue Exception => e # rubocop:disable Lint/RescueException
        raise if broken?(sources, e)

        yield e
        []
      end

      private

      # The application has closed what is ours: no wait would succeed any more.
      def broken?(sources, exception)
        exception.is_a?(Errno::EBADF) || sources.any? { |source| source.to_io.closed? }
      end
    end
  end
end
