# frozen_string_literal: true

module Support
  # Ends the process if a test hangs, and prints where its threads are. Prepended to the base of the tests.
  module HangWatch
    # Ten times what the longest test takes.
    SECONDS = 600

    def run
      HangWatch.watch("#{self.class}##{name}") { super }
    end

    class << self
      def watch(name, seconds = SECONDS * Deadline::FACTOR)
        watch = Thread.new do
          sleep(seconds)
          tell(name, seconds)
          ChildProcess.kill_all
          exit!(1)
        end
        yield
      ensure
        watch.kill.join
      end

      private

      def tell(name, seconds)
        warn "#{name} hangs: it has not ended after #{seconds} s"
        (Thread.list - [Thread.current]).each { |thread| warn thread.inspect, thread.backtrace, "" }
      end
    end
  end
end
