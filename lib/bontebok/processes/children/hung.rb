# frozen_string_literal: true

module Bontebok
  class Children
    # What becomes of children that do not move (WorkerTimeout): each is killed, and replaced at once. And of those in
    # which requests hang (RequestTimeout):
    #
    #   - Each is replaced at once, whoever else is. One that hangs in some of its threads serves with the others until
    #     its replacement is ready, and then has the time that anyone has to finish.
    #   - One that hangs in all its threads serves nobody. It has a second to pass on its other connections, and is
    #     killed as soon as none is left.
    #   - There are never more than twice as many children as there must be: the next one is started when one that
    #     hangs has ended.
    module Hung
      # For the connections of one that hangs in all its threads.
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

      # When the next look at them is due; nil: nobody serves yet.
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
