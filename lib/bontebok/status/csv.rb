# frozen_string_literal: true

require_relative "diagnosis"
require_relative "snapshot"

module Bontebok
  module Status
    # The form for spreadsheets and plotters: one header, and one line for each look. A later version may append
    # columns, and never moves one. A value is a number or a word of this program, so no value needs quotes. An unknown
    # value is empty. Times are in seconds.
    module Csv
      # { column => its value of a snapshot and its rates }
      COLUMNS = {
        "time" => ->(snapshot, _) { snapshot.time },
        "state" => ->(snapshot, _) { snapshot.server[:state] },
        "generation" => ->(snapshot, _) { snapshot.server[:generation] },
        "workers" => ->(snapshot, _) { snapshot.workers.size unless snapshot.unseen? },
        "threads" => ->(snapshot, _) { snapshot.threads unless snapshot.unseen? },
        "busy" => ->(snapshot, _) { snapshot.busy unless snapshot.unseen? },
        "waiting" => ->(snapshot, _) { snapshot.waiting[:requests] },
        "oldest" => ->(snapshot, _) { snapshot.waiting[:oldest] },
        "accept_queue" => ->(snapshot, _) { snapshot.accept_queue },
        "connections" => lambda { |snapshot, _|
          snapshot.workers.sum { |worker| worker[:connections].values.sum } if whole?(snapshot) && counted?(snapshot)
        },
        "detached" => lambda { |snapshot, _|
          snapshot.workers.sum { |worker| worker[:detached] } if whole?(snapshot)
        },
        "pss" => ->(snapshot, _) { snapshot.pss },
        "responses" => ->(snapshot, _) { snapshot.responses if counted?(snapshot) },
        **Snapshot::CLASSES.to_h { |one| ["responses_#{one}", ->(snapshot, _) { total(snapshot, :responses, one) }] },
        "aborted" => ->(snapshot, _) { total(snapshot, :aborted) },
        "rejected" => ->(snapshot, _) { snapshot.rejected if counted?(snapshot) },
        "bytes_in" => ->(snapshot, _) { total(snapshot, :bytes_in) },
        "bytes_out" => ->(snapshot, _) { total(snapshot, :bytes_out) },
        "responses_per_second" => ->(_, rates) { rates.responses },
        "responses_5xx_per_second" => ->(_, rates) { rates.responses("5xx") },
        "service_p50" => ->(_, rates) { rates.service_time&.quantile(0.5) },
        "service_p99" => ->(_, rates) { rates.service_time&.quantile(0.99) },
        "queue_p50" => ->(_, rates) { rates.queue_time&.quantile(0.5) },
        "queue_p99" => ->(_, rates) { rates.queue_time&.quantile(0.99) },
        "cause" => ->(snapshot, rates) { Diagnosis.new(snapshot, rates.earlier).all.first&.first&.kind },
        "files" => ->(snapshot, _) { total(snapshot, :files) }
      }.freeze

      class << self
        def header = COLUMNS.keys.join(",")

        # earlier: the snapshot of the last look; nil: the columns with rates are empty.
        def line(snapshot, earlier = nil)
          rates = Rates.new(snapshot, earlier)
          COLUMNS.each_value.map { |value| text(value.call(snapshot, rates)) }.join(",")
        end

        def whole?(snapshot) = !snapshot.server[:hidden]
        def counted?(snapshot) = !snapshot.server[:uncounted]
        def total(snapshot, *path) = (snapshot.totals.dig(*path) if counted?(snapshot))

        private

        def text(value)
          value.is_a?(Float) ? value.round(6).to_s : value.to_s
        end
      end
    end
  end
end
