# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # The options of garbage collection.
    module Garbage
      include OptionValues

      TITLE = "Garbage collection"

      REQUESTS = OptionTypes::Count.new(1..(1 << 31))

      OPTIONS = [
        Option.new("OobGC", SWITCH, false,
                   "Collect garbage between requests (out of band). A worker does so every MaxGCPerRequest requests, " \
                   "while other workers take the new requests. In Ruby 3.4 and later, old objects are then collected " \
                   "only between requests.",
                   section: TITLE, key: :oob_gc, aliases: [:oobgc]),
        Option.new("MaxGCPerRequest", REQUESTS, 5,
                   "Requests from one out-of-band run to the next. A run calls the hook out_of_band, and collects " \
                   "garbage if OobGC is on. The run begins when the worker has no request, or after ten times as " \
                   "many requests.",
                   section: TITLE, key: :max_gc_per_request),
        Option.new("MinGCPerRequest", COUNT, 0,
                   "Lower bound for a random MaxGCPerRequest. After each run the number is chosen at random from " \
                   "MinGCPerRequest to MaxGCPerRequest. 0: it is always MaxGCPerRequest.",
                   section: TITLE, key: :min_gc_per_request),
        Option.new("CompactBeforeFork", SWITCH, false,
                   "Compact the heap before workers are forked. The workers then share more memory. It needs " \
                   "Preload. Ruby 3.3 and later do this in any case, by Process.warmup.",
                   section: TITLE)
      ].freeze
    end
  end
end
