# frozen_string_literal: true

require_relative "option_table"
require_relative "../usage_error"

module Bontebok
  # For Config: numbers of requests that are chosen at random between two options, so that workers that start together
  # do not do the same at the same moment ever after. Where the lesser one is 0 there is no choice.
  module Spreads
    PAIRS = { min_request_per_child: :max_request_per_child, min_gc_per_request: :max_gc_per_request }.freeze

    # One worker's own number of requests, 0: no limit.
    def request_limit
      spread(:min_request_per_child)
    end

    # Requests until a worker collects garbage again, or does what else is to be done between requests.
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
