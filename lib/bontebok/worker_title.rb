# frozen_string_literal: true

module Bontebok
  # What ps and top show of a worker:
  #
  #   bontebok worker 2 gen 3 busy shop
  #
  # loading, until it may serve; busy, while it has requests; idle, after a second without; draining, when it is about
  # to end. Nothing of a request is shown: everybody on the machine can read it.
  #
  # A request costs nothing for it. The first one after a rest is reported by the lanes, and makes the worker's main
  # thread look once a second from then on, until it finds that they rest; an idle worker is not woken.
  class WorkerTitle
    INTERVAL = 1

    # How long may be waited until #look; nil: it need not be called.
    attr_reader :seconds

    def initialize(number, generation, tag)
      @name = "bontebok worker #{number} gen #{generation}"
      @tag = tag
      show("loading")
    end

    # lanes: those that serve from now on.
    def serving(lanes)
      @lanes = lanes
      look
    end

    # They have a request again.
    def busy
      return unless @lanes

      @seconds = INTERVAL
      show("busy")
    end

    def look
      return busy unless @lanes&.rest

      @seconds = nil
      show("idle")
    end

    # For good.
    def draining
      @lanes = @seconds = nil
      show("draining")
    end

    private

    def show(state)
      return if state == @state

      @state = state
      Process.setproctitle([@name, state, @tag].reject(&:empty?).join(" "))
    end
  end
end
