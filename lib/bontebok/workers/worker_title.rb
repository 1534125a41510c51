# frozen_string_literal: true

module Bontebok
  # The title of a worker process, which ps and top show:
  #
  #   bontebok worker 2 gen 3 busy shop
  #
  # loading: the worker may not serve yet. busy: the worker has requests. idle: the worker has had no request for a
  # second. draining: the worker finishes its requests and ends. The title shows nothing of a request, because everybody
  # on the machine can read titles.
  class WorkerTitle
    def initialize(number, generation, tag)
      @name = "bontebok worker #{number} gen #{generation}"
      @tag = tag
      show("loading")
    end

    def busy = show("busy")

    def idle = show("idle")

    # This is the last state.
    def draining = show("draining")

    private

    def show(state)
      return if [state, "draining"].include?(@state)

      @state = state
      Process.setproctitle([@name, state, @tag].reject(&:empty?).join(" "))
    end
  end
end
