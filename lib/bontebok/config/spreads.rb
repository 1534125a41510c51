# frozen_string_literal: true

module Bontebok
  # Limits that are chosen at random, from three quarters of an option's value to its value. Included by Config. So
  # workers that start together are replaced and collect garbage at different times.
  module Spreads
    LEAST = 0.75

    # Requests after which a worker is replaced. 0: no limit.
    def request_limit
      spread(self[:max_request_per_child])
    end

    # Requests until a worker's next out-of-band run.
    def requests_per_gc
      spread(self[:max_gc_per_request])
    end

    # Seconds after which a worker is replaced. 0: no limit.
    def age_limit
      seconds(:max_worker_age) * rand(LEAST..1.0)
    end

    private

    def spread(most)
      rand((most * LEAST).ceil..most)
    end
  end
end
