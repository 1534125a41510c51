# frozen_string_literal: true

module Bontebok
  class SingleProcess
    # The part of SingleProcess that shows the service manager what the server does (ServiceReport).
    module Service
      private

      # While the loop of the main thread runs, the process is alive.
      def tick_service
        state, status = service_state
        @service.tick(state, status: status, listeners: @listeners, config: @config) { true }
      end

      def service_state
        if @kept then [:reloading, "the process is executed again when its requests are finished"]
        elsif @drain_delay.begun? || @departure || @deadline then [:stopping, "stopping: requests are finished"]
        elsif @serving then [:serving, "one process serves"]
        else [:starting, "starting: the application is loaded"]
        end
      end
    end
  end
end
