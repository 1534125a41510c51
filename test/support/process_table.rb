# frozen_string_literal: true

require "etc"

module Support
  # Reads the live processes from /proc, with their parents and groups. Zombies do not count, because they use no
  # resources. If PID 1 of a container does not reap orphans, an orphan stays a zombie for ever.
  module ProcessTable
    # exit_signal: the signal that the parent gets when the process ends.
    Entry = Struct.new(:pid, :state, :parent, :group, :session, :started, :exit_signal, :command)

    module_function

    def all
      pids.filter_map { |pid| entry(pid) }
    end

    def pids
      Dir.children("/proc").map(&:to_i).reject(&:zero?)
    end

    def group(group)
      pids.filter_map { |pid| entry(pid) { |_parent, its_group| its_group == group } }
    end

    # The live children of a process, oldest first. A younger process has a lower pid if the numbers have begun again.
    # Without the child that Core.check_fork makes and reaps before each fork: the end of that one sends no signal.
    def children(parent)
      pids.filter_map { |pid| entry(pid) { |its_parent, _group| its_parent == parent } }
          .reject { |child| child.exit_signal.zero? }.sort_by { |child| [child.started, child.pid] }
    end

    # The live children of a process, their children, and so on.
    def descendants(ancestor)
      children = all.group_by(&:parent)
      found = [*children[ancestor]]
      found.each { |process| found.concat(children.fetch(process.pid, [])) }
    end

    # Returns an Entry; nil if the process does not exist, if it is a zombie, or if the block returns false.
    def entry(pid)
      # The process name is in parentheses. The name can also contain spaces and parentheses, so the fields begin after
      # the last parenthesis.
      fields = File.read("/proc/#{pid}/stat").rpartition(")").last.split
      return if %w[Z X].include?(fields[0])
      return if block_given? && !yield(fields[1].to_i, fields[2].to_i)

      command = File.binread("/proc/#{pid}/cmdline").tr("\0", " ").strip
      # started: clock ticks from the machine's boot to the start of the process.
      Entry.new(pid, fields[0], *fields.values_at(1, 2, 3, 19, 35).map(&:to_i), command)
    rescue Errno::ENOENT, Errno::ESRCH
      nil
    end

    # User and system time that a process has used, in seconds.
    def cpu_seconds(pid)
      ticks = File.read("/proc/#{pid}/stat").rpartition(")").last.split.values_at(11, 12).sum(&:to_i)
      ticks.fdiv(Etc.sysconf(Etc::SC_CLK_TCK))
    end

    # The clock of the process's processor time, for Process.clock_gettime. It counts nanoseconds, #cpu_seconds counts
    # hundredths of a second. See clock_getcpuclockid(3).
    def clock(pid) = (~pid << 3) | 2

    # The states of the process's threads, each state once: R, S, T...
    def thread_states(pid)
      task_files(pid, "stat").map { |text| text[/.*\) (\w)/m, 1] }.uniq
    end

    def thread_names(pid)
      task_files(pid, "comm").map(&:chomp)
    end

    def asleep?(pid)
      thread_states(pid) == ["S"]
    end

    # Returns how often the threads of the process have gone to sleep.
    def sleeps(pid)
      task_files(pid, "status").sum { |text| text[/^voluntary_ctxt_switches:\s+(\d+)/, 1].to_i }
    end

    # Returns the text of /proc/PID/task/TID/NAME for each thread. A thread that ends during the call is left out.
    def task_files(pid, name)
      Dir["/proc/#{pid}/task/*/#{name}"].filter_map do |path|
        File.read(path)
      rescue Errno::ENOENT, Errno::ESRCH
        nil
      end
    end

    # Bytes of memory: the process's own memory, plus its part of the memory that it shares with others (Pss).
    def memory_bytes(pid)
      File.read("/proc/#{pid}/smaps_rollup")[/^Pss:\s+(\d+)/, 1].to_i * 1024
    end

    # The target of each open descriptor of a process: { 0 => "/dev/null", 5 => "socket:[4711]" }. Returns {} if the
    # process has ended.
    def descriptors(pid)
      Dir.children("/proc/#{pid}/fd").to_h do |fd|
        [fd.to_i, File.readlink("/proc/#{pid}/fd/#{fd}")]
      rescue Errno::ENOENT
        [fd.to_i, nil]
      end.compact
    rescue Errno::ENOENT, Errno::ESRCH
      {}
    end

    def sockets(pid)
      descriptors(pid).values.grep(/\Asocket:/)
    end
  end
end
