# frozen_string_literal: true

require_relative "../../system/clock"

module Bontebok
  class Child
    # The part of Child for a supervisor that executes another program in its place. The new program is the parent of
    # the same children.
    module State
      # Extends Child.
      module Restore
        # state: the result of #state. channel: the parent's end of the child's Channel.
        def restore(state, channel)
          new(state.fetch("number"), state.fetch("pid"), channel).tap { |child| child.restore(state) }
        end
      end

      # Values of JSON. left: seconds to the deadline; nil: no deadline.
      def state
        left = deadline - Clock.now if deadline&.finite?
        { number: number, pid: pid, progress: @progress, staying: staying?, leaving: leaving?, left: left,
          seconds_ready: (seconds_ready if reached?(:ready)) }
      end

      def restore(state)
        @progress = PROGRESS.find { |step| step.to_s == state.fetch("progress") } || :started
        @staying = state.fetch("staying")
        @leaving = state.fetch("leaving")
        @ready_since = Clock.now - state.fetch("seconds_ready") if reached?(:ready)
        expect(state["left"]) if state["left"]
      end
    end
  end
end
