# frozen_string_literal: true

require_relative "child"
require_relative "../system/clock"

module Bontebok
  # The workers whose master (the process that forked them) has died. The kernel makes them children of the supervisor,
  # which uses this class. They serve until all workers of the next master are ready. Then they retire: they finish
  # their requests and end. The supervisor has no channel to these workers and sends signals instead (see Parent).
  #
  # The kernel also gives the supervisor other processes, for example a daemon of the application. This class ignores
  # processes that are no workers.
  class AdoptedWorkers
    SIGNALS = { retire: "TERM", drain: "QUIT", quit: "INT", kill_children: "KILL" }.freeze
    GRACEFUL = %i[drain retire].freeze

    Worker = Struct.new(:pid, :told, :deadline)
    private_constant :Worker

    # worker_links: the WorkerLinks, which lists the workers on the scoreboard. grace: seconds that a worker gets to
    # finish its requests. stalled: the StalledWorkers, which finds workers that hang (WorkerTimeout), or nil.
    def initialize(worker_links, grace:, log:, stalled: nil)
      @worker_links = worker_links
      @grace = grace
      @log = log
      @stalled = stalled
      @workers = []
    end

    # Takes the times of another configuration: GracefulTimeout and WorkerTimeout. Running deadlines do not change.
    def configure(config)
      @grace = config.seconds(:graceful_timeout)
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
      return tell_all(*@stop) if @stop

      note(pids - @worker_links.leaving)
      @workers.each { |worker| retire(worker) if @worker_links.leaving.include?(worker.pid) && !worker.told }
    end

    # Lets the first `most` workers serve, and retires the others. Without a limit, masters that die again and again
    # would fill the memory with workers.
    def keep(most)
      @workers.reject(&:told).drop(most).each { |worker| retire(worker) }
    end

    # Tells all workers to end. how: :drain, :retire, :quit or :kill_children.
    def stop(how)
      @stop = [how, Clock.now + (GRACEFUL.include?(how) ? @grace : Child::QUIT_SECONDS)]
      tell_all(*@stop)
    end

    def reopen_logs
      @workers.each { |worker| signal(worker, "HUP") }
    end

    # The time at which #kill_late_ones must be called; nil: it need not be called.
    def deadline
      [*@workers.filter_map(&:deadline), (@stalled&.time unless empty?)].compact.min
    end

    # Kills the workers that did not end in time, and the workers that hang.
    def kill_late_ones
      late = @workers.select { |worker| worker.deadline && worker.deadline <= Clock.now }
      late.each { |worker| kill(worker, "did not end in time") }
      stalled = empty? || @stalled.nil? ? {} : @stalled.look
      @workers.each { |worker| kill(worker, stalled[worker.pid]) if stalled.key?(worker.pid) }
    end

    # Called when the supervisor has reaped any process.
    def ended(pid, status)
      @worker_links.forget(pid)
      worker = @workers.find { |one| one.pid == pid } or return
      @workers.delete(worker)
      @log.write(status.success? ? :info : :warn, "worker (pid #{pid}) has left: #{Child.ending(status)}")
    end

    private

    # True if the process is a child of the supervisor and has not ended. If the process is no child, Process.wait2
    # raises ECHILD.
    def ours?(pid)
      _, status = Process.wait2(pid, Process::WNOHANG)
      ended(pid, status) if status
      !status
    rescue Errno::ECHILD
      false
    end

    def retire(worker)
      tell(worker, :retire, Clock.now + @grace)
    end

    def note(pids)
      return if pids.empty?

      @log.warn("the supervisor adopts the workers of the dead master: #{pids.join(', ')}")
    end

    def tell_all(how, deadline)
      @workers.each { |worker| tell(worker, how, deadline) unless worker.told && GRACEFUL.include?(how) }
    end

    def tell(worker, how, deadline)
      return if worker.told == :killed

      worker.told = how
      worker.deadline = deadline unless how == :kill_children
      signal(worker, SIGNALS.fetch(how))
    end

    def kill(worker, reason)
      return if worker.told == :killed

      @log.error("worker (pid #{worker.pid}) #{reason}: killed")
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
