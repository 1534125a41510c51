# frozen_string_literal: true

require "fileutils"
require "tmpdir"
require_relative "../process_table"
require_relative "front"

module Runner
  # Ends all processes that a program has started, and removes its temporary files, when the program has ended. The
  # program ends by itself, by a signal (KILL as well), or because its parent ends. There are three processes:
  #
  # - The front is the process that was started. It passes signals on, and ends like the program.
  # - The guard is the front's child, in a session of its own. It lives on if the front is killed, or its process group.
  #   If a descendant of the guard loses its parent, the guard becomes its parent, in whatever session it is.
  # - The program is the guard's child, in the guard's process group. TMPDIR is the run's own directory.
  class Guard
    # Seconds that the program has to end, from the first signal on.
    PATIENCE = 30
    # Seconds for the end of killed processes.
    LIMIT = 10
    # The numbers of the system call prctl. On other systems, a process that has lost its parent is left.
    PRCTL = { "x86_64-linux" => 157, "aarch64-linux" => 167 }.freeze
    PR_SET_CHILD_SUBREAPER = 36

    class << self
      # Returns in a new process, which is the program from now on. No other thread may run.
      def keep(patience: PATIENCE) = new(patience).keep

      # Makes this process the parent of each descendant that loses its parent. Ruby may have no syscall one day.
      def adopt_orphans
        number = PRCTL[RUBY_PLATFORM[/\A\w+-linux/]]
        syscall(number, PR_SET_CHILD_SUBREAPER, 1) if number && respond_to?(:syscall, true)
      end
    end

    def initialize(patience)
      @patience = patience
    end

    def keep
      front = Front.new
      ready, @preparing = IO.pipe
      if (guard = fork)
        @preparing.close
        front.stand_before(guard, ready)
      end

      ready.close
      prepare
      @program = fork
      @program ? stand_guard(front) : @preparing.close
    end

    private

    # All users may write to the directory, because some servers run as another user. Its path is short, because it is
    # in the paths of unix sockets.
    def prepare
      Process.setsid
      Guard.adopt_orphans
      @directory = File.join(Dir.tmpdir, "bontebok-#{rand(36**6).to_s(36)}")
      Dir.mkdir(@directory)
      File.chmod(0o1777, @directory)
      ENV["TMPDIR"] = @directory
    end

    # The program gets the signals itself.
    def stand_guard(front)
      Front.trap_signals { @asked ||= now }
      @preparing.close
      watcher = Thread.new { watch(front) }
      status = wait_for_program
      watcher.kill # The number of the program can be that of another process now.
      end_all
      remove_directory
      Front.leave(status)
    end

    def watch(front)
      sleep(Front::LOOK) until Process.ppid != front.pid || (@asked && now > @asked + @patience)
      kill(@program)
    end

    # Also reaps the processes that have lost their parent.
    def wait_for_program
      loop do
        pid, status = Process.wait2
        return status if pid == @program
      end
    end

    # A process can fork while it is killed, so the guard looks again until it has no child.
    def end_all
      limit = now + LIMIT
      until now > limit
        nil while Process.wait(-1, Process::WNOHANG)
        Support::ProcessTable.descendants(Process.pid).each { |process| kill(process.pid) }
        sleep 0.01
      end
    rescue Errno::ECHILD
      nil
    end

    # Not only root can remove files from a directory to which its owner may not write.
    def remove_directory
      FileUtils.rm_rf(@directory)
      return unless File.exist?(@directory)

      FileUtils.chmod_R("u+rwx", @directory, force: true)
      FileUtils.rm_rf(@directory)
    end

    def kill(pid)
      Process.kill("KILL", pid)
    rescue Errno::ESRCH, Errno::EPERM
      nil
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
