# frozen_string_literal: true

require_relative "clock"
require_relative "main_thread"

module Bontebok
  # The loop of the main thread of Supervisor, Master, Worker and SingleProcess. Only this class waits for signals,
  # deadlines and descriptors. It must run in MainThread.guard. This is one turn:
  #
  #   1. tick     Each part does what is due. Then the loop ends if it is over.
  #   2. wait     until an event, a source or the earliest deadline comes.
  #   3. take     The events that have come are taken from the queue.
  #   4. hear     Parts read their sources. What another process has sent before a signal is read here.
  #   5. handle   The events are handled, oldest first.
  #
  # Not for the thread of a ServerRun, which may not use Clock.wait: the program has a main thread of its own.
  class Loop
    # events: the SignalQueue. The block gets an exception that the application raises during a wait (see MainThread).
    def initialize(events, &interrupted)
      @events = events
      @interrupted = interrupted
      @handlers = {}
      @ticks = []
      @limits = []
      @looks = []
      @sources = []
      @ears = []
      @ready = []
    end

    # Calls the block with each of these events. Other events have no effect.
    def on(*events, &handler) = events.each { |event| @handlers[event] = handler }

    # Calls part.tick in each turn. part.deadline is a limit: see #limit.
    def at(part)
      tick { part.tick }
      limit { part.deadline }
    end

    # Calls the block in each turn, in the order of the calls of #tick and #at.
    def tick(&action) = @ticks << action

    # The block returns the time (Clock) of the next turn, or nil. While there is such a time, a wait is never longer
    # than Clock::STEP, so that Clock notices a freeze.
    def limit(&time) = @limits << time

    # Like #limit, for a time that a freeze may delay. The process sleeps until then.
    def look(&time) = @looks << time

    # Waits for the sources of the part as well, or for the sources that the block returns.
    def watch(part = nil, &sources) = @sources << (sources || part.method(:sources))

    # Calls the block after each wait.
    def hear(&action) = @ears << action

    # True if the last wait has found the source readable.
    def ready?(source) = @ready.include?(source)

    # Returns when the block returns true. Raises an exception if the application has closed a source.
    def run
      loop do
        @ticks.each(&:call)
        return if yield

        wait
        events = @events.take
        @ears.each(&:call)
        events.each { |event| @handlers[event]&.call(event) }
      end
    end

    private

    def wait
      @ready = MainThread.wait([@events, *@sources.flat_map(&:call)], longest_wait, &@interrupted) || []
    end

    # Seconds; nil: only an event or a source ends the wait. An infinite time is none.
    def longest_wait
      limits, looks = [@limits, @looks].map { |times| times.filter_map(&:call).select(&:finite?) }
      seconds = [*limits, *looks].min&.then { |time| [time - Clock.now, 0].max }
      limits.empty? ? seconds : [seconds, Clock::STEP].min
    end
  end
end
