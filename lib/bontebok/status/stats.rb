# frozen_string_literal: true

require_relative "json"
require_relative "puma"

module Bontebok
  module Status
    # The form of Bontebok.stats: the keys of Puma.stats_hash, and the numbers of Json. Puma's `workers` is a number, so
    # the Hashes of the processes are `processes`.
    module Stats
      # Only a look from outside of the server has these.
      OUTSIDE = %i[at accept_queues workers].freeze
      private_constant :OUTSIDE

      # Returns a Hash of Hashes, Arrays, texts, finite numbers, true, false and nil.
      def self.of(snapshot)
        { **Puma.of(snapshot), **Json.numbers(snapshot).except(*OUTSIDE), processes: snapshot.workers }
      end
    end
  end
end
