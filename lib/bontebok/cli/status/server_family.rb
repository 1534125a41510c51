# frozen_string_literal: true

require_relative "../../system/proc/observed_process"
require_relative "../../system/proc/proc_file"
require_relative "../../system/proc/process_children"

module Bontebok
  # The processes of a server as /proc shows them: the supervisor, the masters and the workers. Pids in the server's
  # memory may be wrong, so only these processes are shown.
  class ServerFamily
    # The title of a master (Master#run).
    TITLE = "bontebok master"
    private_constant :TITLE

    # The pid of the supervisor, or nil.
    attr_reader :pid

    # pid: of the supervisor, as this process sees it; nil: not known. lanes: pids that the memory names. masters: pids
    # that the supervisor names; nil: it has not answered, or is a server with one process.
    def initialize(pid, lanes, masters = nil)
      @pid = pid
      @lanes = lanes
      @children = pid ? ProcessChildren.of(pid) : []
      @masters = masters ? @children & [*masters] : (@children - lanes).select { |child| master?(child) }
      @grandchildren = @masters.flat_map { |master| ProcessChildren.of(master) }
      @supervisor = ObservedProcess.new(pid) if pid
    end

    # False: /proc is missing, or does not show the server (hidepid, another pid namespace).
    def known? = !@supervisor.nil? && !@supervisor.state.nil?

    # True if the memory may name this process as a worker. In another pid namespace, its pid may belong to another
    # process here, or to none.
    def include?(pid)
      return [@pid, *@children, *@grandchildren].include?(pid) if known?

      pid.positive? && (@pid.nil? || !ObservedProcess.new(pid).ended?)
    end

    # Seconds since 1970, or nil.
    def started = @supervisor&.started

    # Changes if a process has begun or ended.
    def members = [@pid, @children, @grandchildren]

    # Sentences about processes that need a look. answered: whether the supervisor has answered.
    def troubles(answered)
      [*supervisor(answered), *@masters.filter_map { |pid| trouble_of(pid) }, *adopted]
    end

    private

    # Daemons and commands of the application may be children, too. A master that loads has no workers yet.
    def master?(child)
      ProcessChildren.of(child).intersect?(@lanes) || ProcFile.read("/proc/#{child}/cmdline").to_s.start_with?(TITLE)
    end

    def supervisor(answered)
      return ("the server does not answer" unless answered) unless @pid

      name = "the #{@lanes.include?(@pid) ? 'server' : 'supervisor'} (pid #{@pid})"
      return "#{name} #{@supervisor.condition}" if @supervisor.stopped?
      return if answered

      condition = @supervisor.condition
      "#{name} does not answer#{", and #{condition}" if condition}"
    end

    def trouble_of(pid)
      process = ObservedProcess.new(pid)
      return unless process.stopped? || process.ended?

      "the master (pid #{pid}) #{process.condition}"
    end

    # The supervisor keeps the workers of a dead master until the next master has workers.
    def adopted
      pids = (@lanes & @children) - @masters
      return if pids.empty?

      "a master has ended: the supervisor has adopted #{pids.size == 1 ? 'its worker' : "#{pids.size} workers"} " \
        "(pid #{pids.first(5).join(', ')})"
    end
  end
end
