# frozen_string_literal: true

require_relative "../../system/deadline"
require_relative "../../workers/heartbeat"

module Bontebok
  class SingleProcess
    # The time in which the lanes of the process serve, from their start until requests and detached connections are
    # finished.
    class Serving
      # Seconds that the requests get after INT.
      INTERRUPTED_SECONDS = 2

      # The Deadline for the requests; nil: they have no limit.
      attr_reader :deadline

      # lanes: the Lanes, which have started. seconds: graceful_timeout.
      def initialize(lanes, seconds)
        @lanes = lanes
        @seconds = seconds
        @heartbeat = Heartbeat.new(lanes, nil, 0)
      end

      # late: called when the requests were not finished in time.
      def connect(events, late:)
        mind_time(events, late)
        events.watch { [@lanes.request_limits] }
        events.hear { @lanes.request_limits.tick if events.ready?(@lanes.request_limits) }
        events.on(:busy) { @heartbeat.busy }
        events.on(:lanes_ended) { @over = true unless @lanes.detached.wait? }
      end

      # Begins the graceful end. how: :drain or :retire.
      def finish(how)
        @deadline = Deadline.new(@seconds)
        @lanes.public_send(how)
      end

      # Ends without the requests. They get a moment until the process ends.
      def cut
        @deadline = Deadline.new(INTERRUPTED_SECONDS)
        @over = true
      end

      # Ends with requests that go on.
      def leave
        @deadline = nil
        @over = true
      end

      def over? = @over

      private

      def mind_time(events, late)
        detached = @lanes.detached
        events.tick { @heartbeat.tick }
        events.look { @heartbeat.deadline }
        events.tick { @over = true if detached.over? }
        events.tick { late.call if @deadline&.over? && detached.deadline.nil? && !@over }
        events.limit { detached.deadline || @deadline&.time }
      end
    end
  end
end
