# frozen_string_literal: true

require_relative "../sockets/channel"
require_relative "../system/clock"
require_relative "../system/fork_guard"
require_relative "../system/main_thread"

module Bontebok
  # A process that this process has forked: its pid, its Channel, its deadline and its end. Children::Child
  # (a worker) and Generation (a master) say what the process does. This object only speaks to it.
  class ForkedProcess
    # Seconds from the end of the channel until the process counts as lost. A process that ends closes its channel a
    # moment before its parent can reap the process.
    MOMENT = 0.5
    # Seconds that a process gets to end after :quit, and to kill its own children and to end.
    QUIT_SECONDS = 2
    KILL_SECONDS = 1
    USERS_SIGNALS = %w[KILL TERM QUIT INT HUP].freeze

    # limit: seconds from the last #expect to the deadline. ending: how the process ended, in the words of the log.
    # status: the Process::Status of the ended process; nil if other code has reaped it. fault: why its parent has
    # killed it, in the words of the log.
    attr_reader :pid, :channel, :deadline, :limit, :ending, :status, :fault

    # Forks. The new process closes the inherited channels and everything in to_close, and runs the block with its own
    # end of the Channel. Its exit status is the block's result. Raises SystemCallError if the fork fails.
    def self.fork(to_close: [])
      require "bontebok/bontebok" # here, so that a start can report that the extension is not built
      Core.check_fork
      parent_end, child_end = Channel.pair
      pid = ForkGuard.pass do
        Process.fork do
          to_close.each(&:close)
          Channel.disown(except: child_end)
          MainThread.unguard { exit(yield(child_end)) }
        end
      end
      child_end.close
      new(pid, parent_end)
    rescue SystemCallError
      [parent_end, child_end].compact.each(&:close)
      raise
    end

    # A Process::Status in the words of the log.
    def self.ending(status)
      status.signaled? ? "killed by SIG#{Signal.signame(status.termsig)}" : "exit status #{status.exitstatus}"
    end

    # channel: the parent's end.
    def initialize(pid, channel)
      @pid = pid
      @channel = channel
      @loading = true
      @unsaid = []
    end

    # Sets the deadline: `seconds` from now. A killed process gets no deadline.
    def expect(seconds)
      return if killed?

      @limit = seconds
      @deadline = Clock.now + seconds
    end

    # The process has no deadline any more.
    def expect_nothing
      @deadline = nil
    end

    def overdue? = !@deadline.nil? && @deadline <= Clock.now

    # Sends the word now, or when the process has loaded the application. While it loads, any word would end it
    # (ChildLoading).
    def tell(word)
      @loading ? @unsaid.push(word) : channel.say(word)
    end

    # Called when the process has said :loaded: it obeys its channel from now on.
    def loaded
      @loading = false
      @unsaid.each { |word| channel.say(word) }.clear
    end

    # Tells a parked master to start workers. Until it says :loaded again, it may run hooks (ChildLoading).
    def load_again
      channel.say(:serve)
      @loading = true
    end

    # Sends the word now, which tells the process to end within `seconds`. TERM ends a process that still loads.
    def leave(word, seconds)
      expect(seconds)
      channel.say(word)
      signal(:TERM) if @loading
    end

    # Returns the words that have arrived; of a process that has ended, all of its words. If the channel has closed,
    # #deaf? is true from now on.
    def hear
      words = last = channel.hear
      words += last = channel.hear while ended? && last.size == Channel::MOST
      @lost_at = Clock.now + MOMENT if words.delete(:closed)
      words
    end

    def deaf? = !@lost_at.nil?

    # The time at which a process without a channel counts as lost, unless it was told to end; nil: the channel is open.
    # A lost process still runs, but has called exec or closed its channel.
    attr_reader :lost_at

    def lost? = !@lost_at.nil? && @lost_at <= Clock.now

    # Reaps this process if it has ended. Does not reap other processes. In a master, the application may have reaped
    # the process already.
    def check
      _, status = Process.wait2(pid, Process::WNOHANG)
      ended(status) if status
    rescue Errno::ECHILD
      @ending = "unknown status"
    end

    # Called when other code has reaped the process.
    def ended(status)
      @status = status
      @ending = ForkedProcess.ending(status)
    end

    def ended? = !ending.nil?

    # A killed process has no deadline.
    def kill(fault = nil)
      signal(:KILL)
      @killed = true
      @fault = fault
      @deadline = nil
    end

    def killed? = !@killed.nil?

    # True if a signal has ended the process that users send, and that its parent has not sent.
    def ended_by_user?
      !killed? && status&.signaled? && USERS_SIGNALS.include?(Signal.signame(status.termsig))
    end

    # The pid cannot belong to another process before the process is reaped. ESRCH: other code has reaped it.
    def signal(name)
      Process.kill(name, pid) unless ended?
    rescue Errno::ESRCH
      nil
    end
  end
end
