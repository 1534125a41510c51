# frozen_string_literal: true

require_relative "../../sockets/shared/totals"

module Bontebok
  class Deploy
    # Counts the end of a deploy or a rollback in the totals, and notes it. A deploy that fails can report several
    # failures: only the first one counts.
    class EndNote
      # totals: the Totals. generation: the number of the new generation. ordered: false: it replaces one whose master
      # has died. Nobody has ordered a deploy, so nothing counts.
      def initialize(totals, generation, ordered: true)
        @totals = totals
        @generation = generation
        @ordered = ordered
      end

      # The generation may have been superseded before, by a deploy that has failed then.
      def succeeded
        put("succeeded", "serves (#{@ordered ? 'deploy' : 'the former master has died'})")
      end

      def rolled_back
        put("rolled_back", "serves (rollback)")
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
        put(result, text) unless @written
        @written = true
      end

      def put(result, text)
        text = "generation #{@generation} #{text}"
        @ordered ? @totals.deployed(result, text) : @totals.note(:deploy, text)
      end
    end
  end
end
