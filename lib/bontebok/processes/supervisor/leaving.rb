# frozen_string_literal: true

require_relative "../../sockets/departure"

module Bontebok
  class Supervisor
    # The part of Supervisor that leaves the addresses to other servers (reuse_port, start_server), before a graceful
    # stop. Meanwhile the supervisor handles signals as usual, and workers that end are replaced.
    module Leaving
      private

      # True if the server was told to stop.
      def stops?
        ends? || @departure || @drain_delay.begun?
      end

      # True if the workers were told to end.
      def ends? = @stopping

      def leave
        return if @stopping
        return @departure.insist if @departure

        @departure = Departure.new(@listeners, newcomers: method(:newcomers?), log: @log,
                                               patience: @config.seconds(:worker_boot_timeout))
      end

      # Stops the server when the addresses are left.
      def tick_departure
        stop(@departure.how) if @departure && !@stopping && @service.released? && @departure.over?
      end

      def next_deadline
        [@adopted.deadline, control_deadline, @trial&.deadline, @drain_delay.deadline, service_deadline,
         growth_deadline, *(@departure.deadline if @departure && !@stopping)].compact.min
      end
    end
  end
end
