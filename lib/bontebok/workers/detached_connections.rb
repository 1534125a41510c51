# frozen_string_literal: true

require_relative "../system/deadline"

module Bontebok
  # The connections of this process that have left its threads: hijacked sockets, and streams that have outlived their
  # requests. The core does not know them any more. This class counts them. A worker whose threads have ended waits for
  # them, at most for HijackTimeout. This class keeps no connection alive.
  class DetachedConnections
    # seconds: HijackTimeout, which begins with #drain. core: the Core::Worker, which shows the number.
    def initialize(seconds, core:, log:)
      @seconds = seconds
      @core = core
      @log = log
      @lock = Mutex.new
      @connections = ObjectSpace::WeakMap.new
      @waits = false
      @shown = 0
    end

    # connection: an object with the method closed?. Any thread may call this.
    def add(connection)
      shown = @lock.synchronize do
        @connections[connection] = true
        @shown += 1
      end
      @core.show_detached(shown)
    end

    # Counts the open connections, and shows their number on the scoreboard. This takes a millisecond for a thousand
    # connections.
    def show
      @shown = size
      @core.show_detached(@shown)
    end

    # The number of open connections.
    def size
      all.count { |connection| !connection.closed? }
    end

    # All streams, also those that are closed.
    def streams
      all.grep(Core::Stream)
    end

    # Called when the worker begins to end.
    def drain
      return if @deadline

      @deadline = Deadline.new(@seconds)
    end

    # Called when the threads of the worker have ended. Returns false if no connection is open.
    def wait?
      drain
      count = size
      return false if count.zero?

      @log.info("waits for #{count} hijacked connections and streams, at most #{@deadline.left.round} s")
      @waits = true
    end

    # Seconds until #over? must be called; nil: it need not be called.
    def step
      @deadline.step if @waits
    end

    # Whether the wait has ended: no connection is open, or the time is over.
    def over?
      return false unless @waits
      return true if (count = size).zero?
      return false unless @deadline.left.zero?

      @log.warn("closes #{count} hijacked connections and streams after HijackTimeout")
      true
    end

    private

    def all
      @lock.synchronize { @connections.keys }
    end
  end
end
