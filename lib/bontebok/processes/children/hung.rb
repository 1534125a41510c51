# frozen_string_literal: true

module Bontebok
  class Children
    # Children that do not move (WorkerTimeout) are killed and replaced at once. These are the rules for children in
    # which requests hang (RequestTimeout):
    #
    #   - Each such child is replaced at once, without waiting for other replacements. A child that hangs in some of its
    #     threads serves with the other threads until its replacement is ready. Then it has the usual time to finish.
    #   - A child that hangs in all its threads serves nobody. It may pass its other connections on to other workers for
    #     one second. It is killed as soon as it has no other connection.
    #   - There are never more than twice as many children as there must be. At that limit, the next child is started
    #     when a child that hangs has ended.
    module Hung
      # Seconds to pass other connections on, for a child that hangs in all its threads.
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
          child.hang
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
