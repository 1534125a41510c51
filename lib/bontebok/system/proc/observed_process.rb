# frozen_string_literal: true

require_relative "../process_memory"
require_relative "process_state"
require_relative "stat_line"

module Bontebok
  # Another process, as the kernel shows it at the moment of .new. Any user may see its state and its times. The kernel
  # shows PSS to the user of the process and to root.
  class ObservedProcess
    # Predicates for messages: "the supervisor (pid 12) is stopped (SIGSTOP)".
    CONDITIONS = { "R" => "runs", "S" => "waits", "I" => "waits", "D" => "waits for the disk",
                   "T" => "is stopped (SIGSTOP)", "t" => "is stopped by a debugger",
                   "Z" => "has ended", "X" => "has ended", "x" => "has ended" }.freeze
    STOPPED = %w[T t].freeze
    ENDED = %w[Z X x].freeze
    # pid_t has 32 bits.
    PIDS = (1...(1 << 31))
    private_constant(*constants)

    attr_reader :pid

    # pid: any Integer, because it may come from memory that other processes write. 0: a process outside of the own
    # namespace of pids, of which nothing is known (SO_PEERCRED).
    def initialize(pid)
      @pid = pid
      @stat = StatLine.read("/proc/#{pid}/stat")
      @gone = @stat.nil? && gone_now?
    end

    # The letter of the state (StatLine), or nil.
    def state = @stat&.state

    # The state in words, as a predicate. nil: not known.
    def condition = @gone ? "has ended" : CONDITIONS[state]

    def stopped? = STOPPED.include?(state)

    # True for a zombie, too.
    def ended? = @gone || ENDED.include?(state)

    # Seconds of processor time of all its threads, or nil.
    def cpu = @stat&.cpu

    # The time of its start, in seconds since 1970, or nil. If the process has the pid of an ended one, this time is
    # later.
    def started = @stat&.started

    # Bytes: its own memory, and its part of the memory that it shares; nil: not shown. The kernel reads its page table:
    # this takes 0.3 ms, and 2 ms more for each 100 MB.
    def pss = ProcessMemory.read("/proc/#{@pid}/smaps_rollup")&.share

    private

    def gone_now? = PIDS.cover?(@pid) ? ProcessState.gone?(@pid) : !@pid.zero?
  end
end
