# frozen_string_literal: true

require "etc"

require_relative "proc_file"

module Bontebok
  # The line that /proc/PID/stat or /proc/PID/task/TID/stat has for a process or a thread (proc_pid_stat(5)).
  #
  #   state    the letter of the state, such as R (runs), S (waits), T (stopped) or Z (has ended)
  #   parent   the pid of the parent process
  #   cpu      seconds of processor time. Those of a process include its threads
  #   ticks    ticks from the boot to the start, which do not change when somebody sets the clock
  #   started  seconds since 1970; nil: the system lacks the clock
  StatLine = Struct.new(:state, :parent, :cpu, :ticks, :started) do
    # nil: there is no such process or thread, or the system does not show it.
    def self.read(path)
      ProcFile.read(path)&.then { |text| of(text) }
    end

    # The pid of the parent of a process; nil: as in .read.
    def self.parent_of(pid) = read("/proc/#{pid}/stat")&.parent

    # nil: the text is no such line. The process chooses the name in it, which may have parentheses, spaces and line
    # ends. After the last parenthesis, there are only numbers.
    def self.of(text)
      match = self::FORMAT.match(text) or return
      state, parent, user, system, start = match.captures
      new(state, parent.to_i, (user.to_i + system.to_i).fdiv(self::TICKS), start.to_i,
          boot&.+(start.to_i.fdiv(self::TICKS)))
    end

    # The time of the machine's start. It changes when somebody sets the clock.
    def self.boot
      return unless Process.const_defined?(:CLOCK_BOOTTIME)

      Process.clock_gettime(Process::CLOCK_REALTIME) - Process.clock_gettime(Process::CLOCK_BOOTTIME)
    end
    private_class_method :boot
  end

  StatLine::FORMAT = /\A\d+ \(.*\) (\w) (\d+) (?:-?\d+ ){9}(\d+) (\d+) (?:-?\d+ ){6}(\d+)/mn
  # Ticks per second, in which the kernel gives times.
  StatLine::TICKS = Etc.sysconf(Etc::SC_CLK_TCK)
end
