# frozen_string_literal: true

require_relative "../children"
require_relative "../../system/clock"

module Bontebok
  class Generations < Children
    # The part of Generations for the option keep_former. After a deploy, the former master stays loaded for some time,
    # without workers. A rollback lets it start workers again. The next deploy that takes effect ends it.
    module Keeping
      # Lets the kept master replace the present one. Returns the kept master, or nil if none is kept.
      def roll_back
        child = @kept or return
        @kept = nil
        @roster.each { |present| replace(present) }
        @roster.add(child)
        nil until child.hear.empty? || child.deaf? # words from before the rollback
        child.unpark
        resize(child, @wanted)
        @on_trial << child
        limit(child)
        child
      end

      # True if the process is one of the masters.
      def pid?(pid)
        [*@roster, *@kept].any? { |child| child.pid == pid }
      end

      # True if the child has taken the place of the kept master.
      def keeps_former_of?(child)
        keeps? && @kept_for.equal?(child)
      end

      # A parked master has no workers, but it writes to the log, and its scoreboard can be another one.
      def tell(word, **)
        super
        @kept.channel.say(word) if @kept && %i[reopen announce recall].include?(word)
      end

      def keeps?
        !@kept.nil?
      end

      # Ends the former master that stays loaded.
      def release
        child = @kept or return
        @kept = nil
        @roster.add(child)
        child.retire(@seconds[:retire])
      end

      def stop(how)
        @roster.add(@kept) if @kept
        @kept = nil
        super
      end

      def ended(pid, status)
        @kept.ended(status) if @kept&.pid == pid
        super
      end

      private

      # Called when the child is whole. The former master is parked or retired.
      def relieve(child)
        former = @roster.former(child)
        if former
          release
          seconds = @keep.call(child)
          park(former, child, seconds) if seconds.positive?
        end
        super
      end

      # With deploy_surge, the former master has lost some of its workers.
      def park(former, child, seconds)
        @wanted = @workers.call
        former.workers ||= @wanted
        @kept_for = child
        @roster.delete(former)
        former.park
        @record.kept(former, seconds)
        @kept = former
        @kept_until = Clock.now + seconds
        @parked_by = Clock.now + @seconds[:retire]
      end

      def tick_kept
        return unless @kept

        @kept.check unless @kept.ended?
        return release if @kept.ended? || @kept_until <= Clock.now

        check_parked if @parked_by <= Clock.now
      end

      # A master that is frozen, or busy in a hook, has not told its workers to leave. When the master has gone, the
      # supervisor adopts them and tells them.
      def check_parked
        @parked_by = Float::INFINITY
        return unless @serves.call(@kept)

        child = @kept
        release
        kill_now(child, "did not let its workers leave within #{child.limit} s")
      end

      def kept_deadlines
        keeps? ? [@kept_until, @parked_by] : []
      end
    end
  end
end
