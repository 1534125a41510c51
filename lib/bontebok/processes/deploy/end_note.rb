# frozen_string_literal: true

require_relative "../../sockets/shared/totals"

module Bontebok
  class Deploy
    # Counts the end of a deploy or a rollback in the totals, and notes it. A deploy that fails can report several
    # failures: only the first one counts.
    class EndNote
      # totals: the Totals. generation: the number of the new generation.
      def initialize(totals, generation)
        @totals = totals
        @generation = generation
      end

      # The generation may have been superseded before, by a deploy that has failed then.
      def succeeded
        @totals.deployed("succeeded", "generation #{@generation} serves (deploy)")
      end

      def rolled_back
        @totals.deployed("rolled_back", "generation #{@generation} serves (rollback)")
      end

      # The generation replaces one whose master has died. Nobody has ordered a deploy.
      def recovered
        @totals.note(:deploy, "generation #{@generation} serves (the former master has died)")
      end

      # result: of TotalNames::DEPLOYS.
      def failed(result, reason)
        write(result, "failed: #{reason}")
      end

      def superseded(reason)
        write("superseded", "is superseded: #{reason}")
      end

      private

      def write(result, text)
        @totals.deployed(result, "generation #{@generation} #{text}") unless @written
        @written = true
      end
    end
  end
end
