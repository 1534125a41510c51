# frozen_string_literal: true

require_relative "../fault"

module Bench
  module Faults
    # A deploy of a version that only one worker can load. The measured requests keep two of the four workers busy.
    class BadGeneration < Fault
      def title = "a deploy: one worker of the new version becomes ready, the others fail; 4 workers, 2 of them needed"
      def settings = { workers: 4, preload: false, boot_limit: 5 }
      def path = "/sleep/0.1"

      def strike(run)
        run.note("bad")
        run.contestant.restart(run.first)
      end
    end
  end
end
