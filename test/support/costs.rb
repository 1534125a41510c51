# frozen_string_literal: true

require "json"

module Support
  # Counts what the tests of this process cost. bin/test names a file for the result, and sums up (Runner::Costs).
  module Costs
    # The environment variable that names the file. A line of JSON is appended to it.
    FILE = "BONTEBOK_TEST_COSTS"
    # forks: of the test process itself. starts: of servers. tests: [name, seconds of processors, seconds].
    @counts = { forks: 0, starts: 0, tests: [] }

    # Prepended to the base of the tests.
    module Tests
      def run
        before = Costs.now
        super.tap { Costs.note(self, before) }
      end
    end

    class << self
      # Other test processes that tests start do not count.
      def begin
        file = ENV.delete(FILE) or return
        count_forks
        Minitest::Test.prepend(Tests)
        Minitest.after_run { File.write(file, "#{JSON.generate(@counts)}\n", mode: "a") }
      end

      def count(key)
        @counts[key] += 1
      end

      def note(test, before)
        spent = now.zip(before).map { |after, former| (after - former).round(3) }
        @counts[:tests] << ["#{test.class}##{test.name}", *spent]
      end

      # Ruby calls _fork for each fork, but not for spawn. A prepended module would call itself when a test stubs _fork.
      def count_forks
        Process.singleton_class.class_eval do
          alias_method :uncounted_fork, :_fork
          define_method(:_fork) do
            Costs.count(:forks)
            uncounted_fork
          end
        end
      end

      # Seconds of processors, of this process and of the processes for which it has waited; seconds of the clock.
      def now
        [Process.times.sum, Process.clock_gettime(Process::CLOCK_MONOTONIC)]
      end
    end
  end
end
