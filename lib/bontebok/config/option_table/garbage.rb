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
        Option.new("oob_gc", SWITCH, false,
                   "Collect garbage between requests (out of band). A worker collects after every max_gc_per_request " \
                   "requests, while other workers serve the new requests. With Ruby 3.4 and later, old objects are " \
                   "collected only between requests.",
                   section: TITLE, rackup_name: "OobGC", aliases: [:oobgc]),
        Option.new("max_gc_per_request", REQUESTS, 50,
                   "Requests from one out-of-band run to the next. A run calls the hook out_of_band, and collects " \
                   "garbage if oob_gc is on. For each run the number is chosen at random, from three quarters of the " \
                   "value to the value. After this number of requests, the run begins as soon as the worker has no " \
                   "request. If the worker always has a request, the run begins after ten times this number.",
                   section: TITLE, rackup_name: "MaxGCPerRequest")
      ].freeze
    end
  end
end
