# frozen_string_literal: true

require_relative "../../../lib/bontebok/bontebok"
require_relative "../../../lib/bontebok/system/proc/memory_files"

module Bench
  class Totals
    # Looks at the totals of a server 100 times per second, in a thread of its own.
    class Reader
      LANES = 1024
      INTERVAL = 0.01

      attr_reader :looks, :falls, :responses

      # pid: of the supervisor.
      def initialize(pid)
        @pid = pid
        @looks = 0
        @falls = []
        @memories = {}
        @thread = Thread.new { look until @ends }
      end

      def finish
        @ends = true
        @thread.join
      end

      # How many memories the server has had.
      def memories = @memories.size

      private

      # Memories of other layouts may be added at any time.
      def look
        find_memories if (@looks % 100).zero?
        now = sum
        note_falls(@before, now) if @before
        @before = now
        @responses = now.sum { |name, value| name.start_with?("responses_") ? value : 0 }
        @looks += 1
        sleep INTERVAL
      end

      def note_falls(before, now)
        before.each { |name, value| @falls << "#{name}: #{value} -> #{now[name]}" if now[name] < value }
      end

      def find_memories
        files = Bontebok::MemoryFiles.new("bontebok-metrics").search(@pid).files
        files.each { |file| @memories[file.stat.ino] ||= Bontebok::Core::Metrics.new(LANES, file.fileno) }
      ensure
        files&.each(&:close)
      end

      def sum
        sums = Hash.new(0)
        @memories.each_value do |memory|
          totals = memory.totals
          totals[:counters].each { |name, value| sums[name.to_s] += value }
          totals[:names].each { |name, value| sums[name] += value }
          %i[queue_time service_time].each { |name| sums[name.to_s] += totals[name].sum }
        end
        sums
      end
    end
  end
end
