# frozen_string_literal: true

require_relative "../../../lib/bontebok/bontebok"
require_relative "../../../lib/bontebok/status/histogram"
require_relative "../../../lib/bontebok/system/proc/memory_files"

module Bench
  class Times
    # The times that a running server counts.
    class Shown
      LANES = 1024

      attr_reader :queue_time, :service_time

      # pid: of the supervisor.
      def self.read(pid)
        files = Bontebok::MemoryFiles.new("bontebok-metrics").search_family(pid).files
        new(Bontebok::Core::Metrics.new(LANES, files.first.fileno).totals)
      ensure
        files&.each(&:close)
      end

      def initialize(totals)
        @queue_time = Bontebok::Status::Histogram.new(totals[:queue_time])
        @service_time = Bontebok::Status::Histogram.new(totals[:service_time])
      end
    end
  end
end
