# frozen_string_literal: true

require_relative "../system/deadline"
require_relative "../system/main_thread"

module Bontebok
  # The connections of this process that have left its threads: hijacked sockets, and streams that have outlived their
  # requests. The core does not know them any more. This class counts them. A worker whose threads have ended waits for
  # them, and for the hook before_worker_drain, which may close them, at most for hijack_timeout. It keeps none alive.
  #
  # In the WeakMap each connection is its own value. If many keys share a value, such as true, the WeakMap of Ruby 3.1
  # returns keys that the garbage collector has freed, and Ruby crashes.
  class DetachedConnections
    HOOK = :before_worker_drain
    private_constant :HOOK

    # seconds: hijack_timeout, which begins with #drain. worker: a Hooks::Worker. core: the Core::Worker.
    def initialize(seconds, hooks, worker, core:, log:)
      @seconds = seconds
      @hooks = hooks
      @worker = worker
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
        @connections[connection] = connection
        @shown += 1
      end
      @core.show_detached(shown, @waits)
    end

    # Shows the number of open connections on the scoreboard. A count of a thousand takes a millisecond.
    def show(count = size)
      @shown = count
      @core.show_detached(count, @waits)
    end

    # The number of open connections of this class. No Array has the connections: the garbage collector may find such an
    # Array on the stack of a thread that waits, and then it keeps all of them.
    def size(kind = Object)
      count = 0
      @lock.synchronize do
        @connections.each_key { |connection| count += 1 if open?(connection, kind) }
      end
      count
    end

    # The number of open streams.
    def streams = size(Core::Stream)

    # Called once, when nothing else can end the streams.
    def abort_streams
      @lock.synchronize { @connections.keys }.grep(Core::Stream).each(&:abort)
    end

    # Called when the worker begins to end. Runs the hook once, in a thread of its own, because it may wait for requests
    # and connections. The block is called in this thread after the hook. If there is no room for a thread, the hook
    # does not run: the process must still finish its requests.
    def drain(&ended)
      @deadline ||= Deadline.new(@seconds)
      return if @hook_begun
      return unless @hooks.any?(HOOK)

      @hook_begun = @hook_runs = true
      Thread.new { run_hook(&ended) }
    rescue ThreadError => e
      @hook_runs = false
      @log.error("the hook #{HOOK} cannot run", e)
    end

    # Called when the threads of the worker have ended, and again if the hook ends later. Returns false if no connection
    # is open and the hook has ended. The scoreboard shows that the worker waits (see AdoptedWorkers), also after the
    # wait: the worker still needs a moment to end.
    def wait?
      @deadline ||= Deadline.new(@seconds)
      count = size
      ended = ended?(count)
      note(count) if count.positive? && !@waits
      @waits ||= !ended
      show(count)
      !ended
    end

    # The time until which #over? must be called again and again; nil: it need not be called.
    def deadline
      @deadline.time if @waits
    end

    # Whether the wait has ended: no connection is open and the hook has ended, or the time is over.
    def over?
      return false unless @waits
      return true if ended?(count = size)
      return false unless @deadline.over?

      @log.error("the hook #{HOOK} has not ended within hijack_timeout") if @hook_runs
      @log.warn("closes #{count} hijacked connections and streams after hijack_timeout") if count.positive?
      true
    end

    private

    def run_hook
      MainThread.unguard { @hooks.attempt(HOOK, @worker, log: @log) }
    ensure
      @hook_runs = false
      yield
    end

    def note(count)
      @log.info("waits for #{count} hijacked connections and streams, at most #{@deadline.left.round} s")
    end

    # The application may have given a socket methods of its own.
    def open?(connection, kind)
      connection.is_a?(kind) && !connection.closed?
    rescue StandardError
      false
    end

    def ended?(count)
      count.zero? && !@hook_runs
    end
  end
end
