# frozen_string_literal: true

require_relative "../sockets/channel"
require_relative "child/leaving"
require_relative "../system/clock"
require_relative "forking"

module Bontebok
  # A forked process as its parent sees it: the supervisor's master, a master's worker. Children keeps them.
  #
  #   :started --loaded--> :loaded --ready--> :ready --whole--> :whole
  #
  # Only a master becomes whole: when all of its workers are ready.
  #
  # Beside that it is told to go at some time (leaving?), or first only waits to be replaced (staying? is false). It has
  # a deadline while it boots and while it is leaving, not while it waits to be told to go on or serves.
  class Child
    include Leaving

    PROGRESS = %i[started loaded ready whole].freeze
    # What the end may take of one that is told to end now.
    QUIT_SECONDS = 2
    # A process that ends closes its channel a moment before its parent can know of its end.
    MOMENT = 0.5
    # The same, when it has to kill its own children.
    KILL_SECONDS = 1

    # status: the Process::Status of its end; nil when somebody else has waited for it.
    attr_reader :number, :pid, :channel, :deadline, :patience, :ending, :status

    extend Forking

    # A Process::Status, as the log says it.
    def self.ending(status)
      status.signaled? ? "killed by SIG#{Signal.signame(status.termsig)}" : "exit status #{status.exitstatus}"
    end

    def initialize(number, pid, channel)
      @number = number
      @pid = pid
      @channel = channel
      @progress = :started
      @staying = true
      @leaving = @killed = @hung = false
      @unsaid = []
    end

    # It must get on within so many seconds. Of one that was killed nobody can expect anything.
    def expect(seconds)
      return if @killed

      @patience = seconds
      @deadline = Clock.now + seconds
    end

    # Notes what the child said of itself.
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

    # False once it is to go: it counts no more, and somebody takes its place.
    def staying?
      @staying
    end

    def replace
      @staying = false
    end

    # The one that was to take its place has failed.
    def stay
      @staying = true
    end

    def leaving?
      @leaving
    end

    def overdue?
      !@deadline.nil? && @deadline <= Clock.now
    end

    # What it has not done when it is overdue.
    def omission
      "did not #{leaving? ? 'end' : 'become ready'} within #{@patience} s"
    end

    # Lets one serve that is loaded, within so many seconds.
    def go(seconds)
      channel.say(:go)
      expect(seconds) unless leaving?
    end

    # While it loads nobody is there to hear anything but the end.
    def tell(word)
      reached?(:loaded) || leaving? ? channel.say(word) : @unsaid.push(word)
    end

    # The words that have come. After its end there are none, and the channel need not be watched.
    def hear
      words = channel.hear
      @lost_at = Clock.now + MOMENT if words.delete(:closed)
      words
    end

    def deaf?
      !@lost_at.nil?
    end

    # When it is lost, if it lives: it has called exec, or closed what is not its own. nil: nobody expects that.
    def lost_at
      @lost_at unless leaving?
    end

    def lost?
      !lost_at.nil? && lost_at <= Clock.now
    end

    # Asks the kernel whether it has ended. Waits for no other process: those are not ours. Somebody else in this
    # process (the application, in a master) may have waited for it.
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
  end
end
