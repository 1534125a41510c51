# frozen_string_literal: true

require_relative "forked_process"
require_relative "../system/clock"

module Bontebok
  # The workers whose master (the process that forked them) has died. The kernel makes them children of the supervisor,
  # which uses this class. They serve until all workers of the next master are ready. Then they retire: they finish
  # their requests and end. The supervisor has no channel to these workers and sends signals instead (see Parent).
  # The scoreboard shows which workers only wait for hijacked connections and streams. These workers get hijack_timeout.
  #
  # The kernel also gives the supervisor other processes, for example a daemon of the application. This class ignores
  # processes that are no workers. A worker's application may overwrite the scoreboard, so its pids can be any numbers.
  # A signal goes only to a child of the supervisor that the supervisor has not forked itself.
  class AdoptedWorkers
    SIGNALS = { retire: "TERM", drain: "QUIT", quit: "INT", kill_children: "KILL" }.freeze
    GRACEFUL = %i[drain retire].freeze
    # The least time, in seconds, of a worker whose master dies late in a stop: more than the default of
    # keepalive_drain, so that the worker can close its idle connections, and end or show that it only waits.
    LEAST = 3
    private_constant :LEAST

    # last: the deadline if the worker only waits for hijacked connections and streams. fault: if it was killed, the
    # reason (Totals::ENDS) and a text.
    Worker = Struct.new(:pid, :told, :deadline, :last, :fault)
    private_constant :Worker

    # worker_links: the WorkerLinks, which lists the workers on the scoreboard. config: for the times, see #configure.
    # forked: called with a pid, returns whether the supervisor has forked this process itself. The block returns how
    # many of the workers may serve.
    def initialize(worker_links, config, log:, forked: proc { false }, &most)
      @worker_links = worker_links
      @log = log
      @forked = forked
      @most = most
      @workers = []
      configure(config)
    end

    # Takes the times of a configuration. A worker gets graceful_timeout to finish its requests. It gets hijack_timeout
    # if it only waits for hijacked connections and streams. After worker_timeout it hangs. Running deadlines do not
    # change.
    def configure(config)
      @grace = config.seconds(:graceful_timeout)
      @hijack = config.seconds(:hijack_timeout)
      @stalled = @worker_links.stalled(config.seconds(:worker_timeout))
    end

    def empty?
      @workers.empty?
    end

    # Called when a master has ended. Adopts the master's workers that serve. Only these workers are on the scoreboard.
    def take
      pids = (@worker_links.pids - @workers.map(&:pid)).select { |pid| ours?(pid) }
      return if pids.empty?

      @workers.concat(pids.map { |pid| Worker.new(pid) })
      return tell_late if @stop

      leaving = @worker_links.leaving
      note(pids - leaving)
      @workers.each { |worker| retire(worker) if leaving.include?(worker.pid) && !worker.told }
    end

    # Kills workers that did not end in time or hang. Retires those that may not serve: without a limit, masters that
    # die again and again would fill the memory with workers.
    def tick
      kill_late_ones
      @workers.reject(&:told).drop(@most.call).each { |worker| retire(worker) } unless @stop
    end

    # Tells all workers to end. how: :drain, :retire, :quit or :kill_children.
    def stop(how)
      @stop = [how, *limits(how)]
      @workers.each { |worker| tell(worker, *@stop) unless worker.told && GRACEFUL.include?(how) }
    end

    def reopen_logs
      @workers.each { |worker| signal(worker, "HUP") }
    end

    # The time of the next #tick; nil: it need not be called.
    def deadline
      [*@workers.filter_map(&:deadline), (@stalled&.time unless empty?)].compact.min
    end

    # Called when the supervisor has reaped any process. A worker that dies with its master was not adopted yet.
    def ended(pid, status)
      worker = @workers.find { |one| one.pid == pid }
      worker ||= Worker.new(pid) if @worker_links.pids.include?(pid) && !@forked.call(pid)
      @worker_links.forget(pid)
      return unless worker

      @workers.delete(worker)
      count(worker, status)
      @log.write(status.success? ? :info : :warn, "worker (pid #{pid}) has left: #{ForkedProcess.ending(status)}")
    end

    private

    # As in a master, only failures are noted.
    def count(worker, status)
      totals = @worker_links.totals
      reason, text = worker.fault || describe(worker, status)
      totals.ended(reason, text && "#{totals.worker(worker.pid) || 'worker'} (pid #{worker.pid}): #{text}")
    end

    def describe(worker, status)
      return ["asked", nil] if worker.told && (status.success? || worker.told == :kill_children)

      [status.signaled? ? "killed" : "crashed", ForkedProcess.ending(status)]
    end

    # True if the process has not ended and is a child of the supervisor, but the supervisor has not forked it. If the
    # process is no child, Process.wait2 raises ECHILD. A pid below 1 means a group of processes, or all.
    def ours?(pid)
      return false if !pid.positive? || @forked.call(pid)

      _, status = Process.wait2(pid, Process::WNOHANG)
      ended(pid, status) if status
      !status
    rescue Errno::ECHILD
      false
    end

    def kill_late_ones
      late_ones.each { |worker| kill(worker, "late", "did not end in time") }
      stalled = empty? || @stalled.nil? ? {} : @stalled.look
      @workers.each { |worker| kill(worker, "hung", stalled[worker.pid]) if stalled.key?(worker.pid) }
    end

    def late_ones
      late = @workers.select { |worker| late?(worker) }
      spare(late) if late.any?
      late.select { |worker| late?(worker) }
    end

    def late?(worker)
      !worker.deadline.nil? && worker.deadline <= Clock.now
    end

    # Workers that only wait for hijacked connections and streams get more time. A worker that is not on the scoreboard
    # any more ends, perhaps after such a wait.
    def spare(workers)
      serving = @worker_links.pids - @worker_links.waiting
      workers.each { |worker| worker.deadline = worker.last unless serving.include?(worker.pid) }
    end

    def retire(worker)
      tell(worker, :retire, *limits(:retire))
    end

    # Returns Worker#deadline and Worker#last of a worker that is told now. The worker counts hijack_timeout itself, and
    # then has a moment to end.
    def limits(how)
      seconds = [ForkedProcess::QUIT_SECONDS] * 2
      seconds = [@grace, @hijack + ForkedProcess::KILL_SECONDS] if GRACEFUL.include?(how)
      seconds.map { |limit| Clock.now + limit }
    end

    def note(pids)
      return if pids.empty?

      @log.warn("the supervisor adopts the workers of the dead master: #{pids.join(', ')}")
    end

    # The master has died during the stop. Its workers have the time that is left.
    def tell_late
      how, *limits = @stop
      least = Clock.now + LEAST
      @workers.reject(&:told).each { |worker| tell(worker, how, *limits.map { |limit| [limit, least].max }) }
    end

    def tell(worker, how, deadline, last)
      return if worker.told == :killed

      worker.told = how
      worker.deadline = deadline unless how == :kill_children
      worker.last = last
      signal(worker, SIGNALS.fetch(how))
    end

    def kill(worker, reason, text)
      return if worker.told == :killed

      worker.fault = [reason, text]
      @log.error("worker (pid #{worker.pid}) #{text}: killed")
      worker.told = :killed
      worker.deadline = nil
      signal(worker, "KILL")
    end

    # The pid cannot belong to another process before the supervisor has reaped the worker.
    def signal(worker, name)
      Process.kill(name, worker.pid)
    rescue Errno::ESRCH
      nil
    end
  end
end
