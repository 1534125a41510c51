# frozen_string_literal: true

module Bontebok
  class Children
    # The end of a worker that the supervisor has adopted (AdoptedWorkers). The workers of a dead master are told to end
    # together. As in EndNotes, only failures are noted.
    class AdoptedEnd
      # fault: the reason (TotalNames::ENDS) and the text, if the supervisor has killed the worker. told: how the worker
      # was told to end, or nil.
      def initialize(pid, status, fault, told)
        @pid = pid
        @status = status
        @fault = fault
        @told = told
      end

      def count(totals)
        reason, text = @fault || describe
        totals.ended(reason, text && "#{totals.worker(@pid) || 'worker'} (pid #{@pid}): #{text}")
      end

      private

      def describe
        return ["asked", nil] if @told && (@status.success? || @told == :kill_children)

        [@status.signaled? ? "killed" : "crashed", ForkedProcess.ending(@status)]
      end
    end
  end
end
