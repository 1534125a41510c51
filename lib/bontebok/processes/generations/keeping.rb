# frozen_string_literal: true

require_relative "../children"
require_relative "../../system/clock"

module Bontebok
  class Generations < Children
    # The part of Generations for the option KeepFormer. After a deploy, the former master stays loaded for some time,
    # without workers. A rollback lets it start workers again. The next deploy ends it.
    module Keeping
      # Lets the kept master replace the present one. Returns the kept master, or nil if none is kept.
      def roll_back
        child = @kept or return
        @kept = nil
        @roster.each { |present| replace(present) }
        @roster.add(child)
        child.unpark
        limit(child)
        child
      end

      def keeps?
        !@kept.nil?
      end

      def renew
        release
        super
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
        seconds = former ? @keep.call(child) : 0
        park(former, seconds) if seconds.positive?
        super
      end

      def park(former, seconds)
        release
        @roster.delete(former)
        former.park
        @record.kept(former, seconds)
        @kept = former
        @kept_until = Clock.now + seconds
      end

      def tick_kept
        return unless @kept

        @kept.check unless @kept.ended?
        release if @kept.ended? || @kept_until <= Clock.now
      end

      def release
        child = @kept or return
        @kept = nil
        @roster.add(child)
        child.retire(@seconds[:retire])
      end
    end
  end
end
