# frozen_string_literal: true

require "json"
require_relative "checked"
require_relative "hostile"

# The program with all clients of bench/abuse but the load tool:
#
#   ruby clients.rb SECONDS SEED FILE ADDRESS...
#
# FILE is the file that the application sends. The program prints a line of JSON for each response to a Checked client
# that was not ok, and at last a line with the numbers of all results.

module Bench
  module Abuse
    # Threads of Checked and of Hostile clients.
    class Clients
      CHECKED = 4
      HOSTILE = 12
      # Seconds between two clients of a thread, at most.
      PAUSE = 0.3

      def initialize(seconds, seed, file, addresses)
        @limit = now + seconds
        @seed = seed
        @file = file
        @addresses = addresses
        @counts = Hash.new(0)
        @lock = Mutex.new
      end

      def run
        checked = Array.new(CHECKED) { |number| repeat(Checked.new(@addresses, @file, random(number)), number) }
        hostile = Array.new(HOSTILE) { |number| repeat(Hostile.new(@addresses, random(-number - 1)), number) }
        [*checked, *hostile].each(&:join)
        say(counts: @counts)
      end

      private

      def random(number) = Random.new(@seed + number)

      def repeat(client, number)
        pauses = random(number)
        Thread.new do
          until now > @limit
            note(*client.act)
            sleep(pauses.rand(PAUSE))
          end
        end
      end

      # result: nil for a hostile client.
      def note(kind, result = :left, text = nil)
        @lock.synchronize do
          @counts["#{kind} #{result}"] += 1
          say(at: now, kind: kind, result: result, text: text) if text
        end
      end

      def say(words)
        puts JSON.generate(words.transform_values { |value| value.is_a?(String) ? value.scrub("?") : value })
        $stdout.flush
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end

seconds, seed, file, *addresses = ARGV
Thread.abort_on_exception = true
Bench::Abuse::Clients.new(Float(seconds), Integer(seed), file, addresses).run
