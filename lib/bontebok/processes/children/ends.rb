# frozen_string_literal: true

module Bontebok
  class Children
    # The part of Children that reaps and kills children. It logs how each child ended, and decides whether the child
    # has failed.
    module Ends
      private

      # The last words of a child that has ended are read before its end is noted.
      def hear_and_reap
        @roster.reject(&:ended?).each(&:check)
        @roster.audible.each { |child| hear(child) }
        @roster.select(&:ended?).each do |child|
          @roster.delete(child)
          child.channel.close
          note_end(child)
          @ended.call(child)
        end
      end

      def note_end(child)
        if !child.reached?(:ready) && !child.leaving?
          @record.failed(child)
          @pauses.failed(child.number, fault: !child.ended_by_user?)
        elsif child.staying?
          @record.ended(child)
          @pauses.ended(child.number, child.seconds_ready)
        elsif child.reached?(:ready) || !@stopping
          @record.left(child)
        end
      end

      # Pauses treats a lost child (see Child#lost_at) like a child that has ended.
      def note_lost(child)
        if !child.reached?(:ready)
          @pauses.failed(child.number, fault: true)
        elsif child.staying?
          @pauses.ended(child.number, child.seconds_ready)
        end
        child.blame(:lost).await_end(@seconds[:retire])
        @record.lost(child)
      end

      def kill_now(child, reason)
        @record.killed(child, reason)
        child.kill(reason)
      end
    end
  end
end
