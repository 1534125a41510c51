# frozen_string_literal: true

require_relative "../sockets/channel"
require_relative "child/leaving"
require_relative "child/state"
require_relative "../system/clock"
require_relative "forking"

module Bontebok
  # A forked process as its parent sees it: a master (its parent is the supervisor) or a worker (its parent is a
  # master). The class Children keeps these objects.
  #
  #   :started --loaded--> :loaded (--prepared--> :prepared) --ready--> :ready --whole--> :whole
  #
  # Only a worker that must not serve before others is prepared (see Together). Only a master becomes whole. It is whole
  # when all of its workers are ready.
  #
  # At each step, a child stays (staying?), or waits for its replacement (neither staying? nor leaving?), or was told to
  # end (leaving?). A child has a deadline while it boots, and while it leaves. A child has no deadline while it waits
  # for the word :go (see Channel), and while it serves.
  class Child
    include Leaving
    include State

    PROGRESS = %i[started loaded prepared ready whole].freeze
    USERS_SIGNALS = %w[KILL TERM QUIT INT HUP].freeze
    # Seconds that a child gets to end after :quit.
    QUIT_SECONDS = 2
    # Seconds from the end of a child's channel until the child counts as lost. A process that ends closes its channel a
    # moment before its parent can reap the process.
    MOMENT = 0.5
    # Seconds that a child may take to kill its own children and to end.
    KILL_SECONDS = 1

    # limit: seconds from the last #expect to the deadline. ending: how the child ended, in the words of the log.
    # status: the Process::Status of the ended child; nil if other code has reaped the child. cause: why the child must
    # end (see Children::EndNotes). fault: why its parent has killed it, in the words of the log.
    attr_reader :number, :pid, :channel, :deadline, :limit, :ending, :status, :cause, :fault

    # How many workers the master was told to have; nil: as many as the supervisor wants.
    attr_accessor :workers

    extend Forking
    extend State::Restore

    # A Process::Status in the words of the log.
    def self.ending(status)
      status.signaled? ? "killed by SIG#{Signal.signame(status.termsig)}" : "exit status #{status.exitstatus}"
    end

    def initialize(number, pid, channel)
      @number = number
      @pid = pid
      @channel = channel
      @progress = :started
      @staying = true
      @leaving = @killed = @hung = @waiting = false
      @unsaid = []
    end

    # Sets the deadline: the child must become ready, or end, within `seconds`. A killed child gets no deadline.
    def expect(seconds)
      return if @killed

      @limit = seconds
      @deadline = Clock.now + seconds
    end

    # Notes the step that the child has reported.
    def reached(step)
      @progress = step
      @deadline = nil unless leaving?
      @ready_since = Clock.now if step == :ready
      @unsaid.each { |word| channel.say(word) }.clear
    end

    def seconds_ready
      Clock.now - @ready_since
    end

    def reached?(step)
      PROGRESS.index(@progress) >= PROGRESS.index(step)
    end

    # False if another child is to take this child's place.
    def staying?
      @staying
    end

    def replace
      @staying = false
    end

    # Notes why the child must end. Only the first cause counts, but see #hang. Returns the child.
    def blame(cause)
      @cause ||= cause
      self
    end

    # Called if the child's replacement has failed. The child stays.
    def stay
      @staying = true
    end

    def leaving?
      @leaving
    end

    def overdue?
      !@deadline.nil? && @deadline <= Clock.now
    end

    # The step that the child has missed, in the words of the log.
    def omission
      "did not #{leaving? ? 'end' : 'become ready'} within #{@limit} s"
    end

    # Tells a loaded child to serve. The child must become ready within `seconds`.
    def go(seconds)
      channel.say(:go)
      expect(seconds) unless leaving?
    end

    # Tells a prepared child to serve, once. The child must become ready within `seconds`.
    def serve(seconds)
      return if @serves || @progress != :prepared || leaving?

      @serves = true
      channel.say(:serve)
      expect(seconds)
    end

    # True if a signal has ended the child that users send, and that its parent has not sent.
    def ended_by_user?
      !killed? && status&.signaled? && USERS_SIGNALS.include?(Signal.signame(status.termsig))
    end

    # Sends the word (a message of Channel) now, or when the child is loaded. While a child loads the application, any
    # word would end it (ChildLoading).
    def tell(word)
      count(word) if workers
      reached?(:loaded) || leaving? ? channel.say(word) : @unsaid.push(word)
    end

    # Returns the words that have arrived. If the channel has closed, #deaf? is true from now on.
    def hear
      words = channel.hear
      @lost_at = Clock.now + MOMENT if words.delete(:closed)
      words
    end

    def deaf?
      !@lost_at.nil?
    end

    # The time at which the child counts as lost; nil: the channel is open, or the child is leaving. A lost child still
    # runs, but has called exec or closed its channel.
    def lost_at
      @lost_at unless leaving?
    end

    def lost?
      !lost_at.nil? && lost_at <= Clock.now
    end

    # Reaps this child if it has ended. Does not reap other processes. In a master, the application may have reaped the
    # child already.
    def check
      _, status = Process.wait2(pid, Process::WNOHANG)
      ended(status) if status
    rescue Errno::ECHILD
      @ending = "unknown status"
    end

    def ended(status)
      @status = status
      @ending = Child.ending(status)
    end

    def ended?
      !ending.nil?
    end

    private

    # A master keeps one worker.
    def count(word)
      @workers += 1 if word == :more
      @workers -= 1 if word == :fewer && @workers > 1
    end
  end
end
