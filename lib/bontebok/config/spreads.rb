# frozen_string_literal: true

require_relative "option_table"
require_relative "../usage_error"

module Bontebok
  # Numbers of requests that are chosen at random between the values of two options. Included by Config. Because the
  # numbers are random, workers that start together are replaced and collect garbage at different times. If the lower
  # option is 0, the number is always the value of the upper option.
  module Spreads
    PAIRS = { min_request_per_child: :max_request_per_child, min_gc_per_request: :max_gc_per_request }.freeze

    # Requests after which a worker is replaced. 0: no limit.
    def request_limit
      spread(:min_request_per_child)
    end

    # Requests until a worker's next out-of-band run.
    def requests_per_gc
      spread(:min_gc_per_request)
    end

    private

    def spread(least)
      most = PAIRS.fetch(least)
      self[least].zero? ? self[most] : rand(self[least]..self[most])
    end

    def check_spreads
      PAIRS.each do |least, most|
        next if self[least] <= self[most]

        names = [least, most].map { |key| "#{OptionTable[key].name} (#{self[key]})" }
        raise UsageError, names.join(" must not be above ")
      end
    end
  end
end
