# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # When Ruby's garbage is collected.
    module Garbage
      include OptionValues

      TITLE = "Garbage collection"

      REQUESTS = OptionTypes::Count.new(1..(1 << 31))

      OPTIONS = [
        Option.new("OobGC", SWITCH, false,
                   "Collect garbage between requests (out of band), every MaxGCPerRequest requests, while other " \
                   "workers take those that come. Ruby 3.4 and later then collect old objects at no other time.",
                   section: TITLE, key: :oob_gc, aliases: [:oobgc]),
        Option.new("MaxGCPerRequest", REQUESTS, 5,
                   "Requests of a worker until it does what is to be done out of band: OobGC, the hook out_of_band. " \
                   "It waits for a moment in which it has no request, but not longer than for ten times as many.",
                   section: TITLE, key: :max_gc_per_request),
        Option.new("MinGCPerRequest", COUNT, 0,
                   "With MaxGCPerRequest: each time the number is chosen at random between the two. 0: no spread.",
                   section: TITLE, key: :min_gc_per_request),
        Option.new("CompactBeforeFork", SWITCH, false,
                   "With Preload: move objects together before the workers are forked, which then share more " \
                   "memory. Ruby 3.3 and later do that in any case, as part of Process.warmup.",
                   section: TITLE)
      ].freeze
    end
  end
end
