# frozen_string_literal: true

require_relative "../../status/snapshot"

module Bontebok
  # The workers of a snapshot, as the server itself has told them. Only for a server whose memory cannot be read: on a
  # system without files in memory, or an older version.
  class ProcessesTold
    # processes: see WorkerLinks#processes, with Strings as keys.
    def initialize(processes)
      @processes = processes.is_a?(Array) ? processes.grep(Hash).first(Status::Snapshot::MOST) : []
    end

    def to_a
      @processes.map.with_index(1) do |process, number|
        { number: number, pid: process["pid"], leaves: process["leaves"], requests: process["requests"],
          errors: process["errors"], threads: threads(process) }
      end
    end

    private

    def threads(process)
      number, busy = process.values_at("threads", "busy").map { |value| count(value).clamp(0, Status::Snapshot::MOST) }
      Array.new(number) do |index|
        { number: index + 1, state: index < busy ? "request" : "idle",
          taken: (count(process["longest"]) / 1000.0 if index.zero? && process["longest"]) }
      end
    end

    def count(value) = Status::Shape::COUNT.call(value)
  end
end
