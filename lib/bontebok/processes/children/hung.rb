# frozen_string_literal: true

module Bontebok
  class Children
    # The part of Children for children that hang. A stalled child (worker_timeout) is killed and replaced at once.
    # These are the rules for a child in which requests hang (request_timeout):
    #
    #   - The child is replaced at once, without waiting for other replacements. If some of its threads hang, it serves
    #     with the other threads until its replacement is ready. After that, it gets graceful_timeout to finish.
    #   - If all its threads hang, the child gets one second. In this second, the child passes its connections to other
    #     workers, except connections with a request that hangs. The child is killed as soon as all its connections have
    #     requests that hang.
    #   - The number of children is at most twice the number that must exist. At this limit, the next child is started
    #     when a child that hangs has ended.
    module Hung
      # If all threads of a child hang, the child must end within this number of seconds.
      STUCK_SECONDS = 1

      private

      def note_hung(child, word)
        return if child.killed?

        @record.hangs(child, word == :stuck) if word == :stuck || !child.hung?
        child.hang
        replace(child)
        child.hurry(STUCK_SECONDS) if word == :stuck
        kill_now(child, "has only requests that hang") if word == :emptied
      end

      # The time of the next #kill_stalled; nil: no child serves yet.
      def watch_time
        @stalled&.time if @roster.any? { |child| child.reached?(:ready) }
      end

      def kill_stalled
        @stalled.look.each do |pid, reason|
          child = @roster.find { |one| one.pid == pid && !one.killed? } or next
          child.hang(:worker_timeout)
          replace(child)
          kill_now(child, reason)
        end
      end

      def note_crowd
        crowded = @roster.startable.size < @roster.missing.size
        @record.crowded(@roster.count(&:hung?)) if crowded && !@crowded
        @crowded = crowded
      end
    end
  end
end
