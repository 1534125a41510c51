# frozen_string_literal: true

module Bontebok
  # What the memory shows: of this process's server (WorkerLinks#numbers), or of one that is looked at (ObservedMemory).
  class SharedNumbers
    # scoreboards: Core::Scoreboard. metrics: Core::Metrics. counter: the Core::Scoreboard of the shared queue, or nil.
    def initialize(scoreboards, metrics, counter)
      @scoreboards = scoreboards
      @metrics = metrics
      @counter = counter
    end

    # See Core::Scoreboard#lanes.
    def lanes = @scoreboards.flat_map(&:lanes)

    # { [slot, pid] => Hash }: see Core::Metrics#lanes. The first memory counts most.
    def counted
      @metrics.reverse.each_with_object({}) do |metrics, found|
        metrics.lanes.each_with_index { |lane, slot| found[[slot, lane[:pid]]] = lane }
      end
    end

    # See Core::Metrics#totals, for each memory.
    def totals = @metrics.map(&:totals)

    # The notes of all memories, the oldest first: [[ms since 1970, text], ...].
    def notes(kind) = @metrics.flat_map { |metrics| metrics.notes(kind) }.sort_by(&:first)

    # The requests in the shared queue, { requests: their number, oldest: seconds for which the first one has waited }.
    # nil: not known. queue: the receiving end of the shared queue, or nil. Takes nothing from it.
    def waiting(queue)
      %i[requests oldest].zip(@counter.waiting(queue.fileno) || [0, nil]).to_h if queue && @counter
    end

    def draining? = @scoreboards.any?(&:draining?)
  end
end
