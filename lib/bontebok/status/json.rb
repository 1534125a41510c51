# frozen_string_literal: true

require_relative "diagnosis"

module Bontebok
  module Status
    # The form for programs: the fields of the snapshot with their names and units (seconds, bytes, seconds since 1970),
    # the causes that the diagnosis has found, and the rates since an earlier snapshot.
    module Json
      QUANTILES = { p50: 0.5, p95: 0.95, p99: 0.99, p999: 0.999 }.freeze
      # Bounds of OpenTelemetry's histogram of durations, in seconds.
      BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10].freeze

      class << self
        # Returns a Hash of Hashes, Arrays, texts, finite numbers, true, false and nil.
        def of(snapshot, earlier = nil)
          diagnosis = Diagnosis.new(snapshot, earlier)
          { **numbers(snapshot), causes: diagnosis.all.map { |cause, worker| cause(cause, worker) },
                                 rates: rates(diagnosis.rates) }
        end

        # The part of .of that needs no diagnosis.
        def numbers(snapshot)
          times = { queue_time: histogram(snapshot.queue_time), service_time: histogram(snapshot.service_time) }
          { **snapshot.to_h, **times, busy: snapshot.busy, threads: snapshot.threads }
        end

        private

        # below: how many durations were shorter than the bound.
        def histogram(times)
          { count: times.count, sum: times.sum.round(6), **quantiles(times),
            below: BOUNDS.to_h { |bound| [bound.to_s, times.below(bound)] } }
        end

        def quantiles(times)
          QUANTILES.transform_values { |share| times.quantile(share) }
        end

        def cause(cause, worker)
          { kind: cause.kind.to_s, text: cause.text, seconds: cause.seconds,
            worker: worker&.fetch(:number), pid: worker&.fetch(:pid) }
        end

        # nil: there is no earlier snapshot.
        def rates(rates)
          return unless rates.known?

          { seconds: rates.seconds, responses: rates.responses, errors: rates.responses("5xx"),
            rejected: rates.growth_of(:rejected), queue_time: quantiles(rates.queue_time),
            service_time: quantiles(rates.service_time) }
        end
      end
    end
  end
end
