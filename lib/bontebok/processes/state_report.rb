# frozen_string_literal: true

require_relative "../sockets/service/service_report"

module Bontebok
  # Tells the service manager in each turn of a Loop what the server does. Used by Supervisor and SingleProcess.
  class StateReport
    # service: the ServiceReport. alive: returns whether the server is alive. The block returns the state of the server
    # (see ServiceReport), and the state in words.
    def initialize(service, effective, alive: proc { true }, &state)
      @service = service
      @effective = effective
      @alive = alive
      @state = state
    end

    def tick
      return unless @service.wanted?

      state, text = @state.call
      @service.tick(state, status: text, **@effective.to_h, &@alive)
    end

    def deadline = @service.deadline

    # Seconds until #deadline, for a thread that has no Loop; nil: no limit.
    def step = @service.step

    # See ServiceReport#released?.
    def released? = @service.released?
  end
end
