# frozen_string_literal: true

module Bontebok
  # What ps and top show of a worker:
  #
  #   bontebok worker 2 gen 3 busy shop
  #
  # loading, until it may serve; busy, while it has requests; idle, after a second without; draining, when it is about
  # to end. Nothing of a request is shown: everybody on the machine can read it.
  class WorkerTitle
    def initialize(number, generation, tag)
      @name = "bontebok worker #{number} gen #{generation}"
      @tag = tag
      show("loading")
    end

    def busy
      show("busy")
    end

    def idle
      show("idle")
    end

    # For good.
    def draining
      show("draining")
    end

    private

    def show(state)
      return if [state, "draining"].include?(@state)

      @state = state
      Process.setproctitle([@name, state, @tag].reject(&:empty?).join(" "))
    end
  end
end
