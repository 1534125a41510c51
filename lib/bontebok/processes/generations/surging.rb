# frozen_string_literal: true

require_relative "../children"

module Bontebok
  class Generations < Children
    # The part of Generations for the option deploy_surge: a few workers of the next generation start at a time. When
    # they are ready, as many workers of the former generation leave. So a deploy needs little additional memory.
    module Surging
      # Ends the hold: the child starts its other workers.
      def go_on(child)
        note_progress(child, :whole)
      end

      # Ends the hold: the child ends, and the former master stays.
      def take_back(child, reason)
        give_up(child, reason) if child.staying?
      end

      # Tells the master how many workers it must have.
      def resize(child, number)
        difference = number - (child.workers || number)
        difference.abs.times { child.tell(difference.positive? ? :more : :fewer) }
      end

      private

      # Both generations serve, without a time limit.
      def hold(child)
        child.reached(:ready)
        @limits.delete(child)
      end

      # Called when all workers of the child that were started are ready. Starts `count` more workers.
      def continue(child, count, leave)
        shrink(@roster.former(child), child, leave) if child.staying?
        child.reached(:ready)
        count.times { child.tell(:more) }
        @limits.delete(child)
        limit(child)
      end

      # Another child takes this child's place.
      def replace(child)
        super
        grow_back(child, @roster.former(child))
      end

      def note_lost(child)
        super
        grow_back(child, @roster.former(child))
      end

      # The former generation keeps one worker until the end.
      def shrink(former, child, count)
        return unless former && count.positive?

        former.workers ||= @workers.call
        count.times { former.tell(:fewer) }
        @shrunk |= [child]
      end

      # Called when the child has failed. The former generation gets its workers back.
      def grow_back(child, former)
        resize(former, @workers.call) if @shrunk.delete(child) && former
      end
    end
  end
end
