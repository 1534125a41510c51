# frozen_string_literal: true

require_relative "../system/deadline"

module Bontebok
  # Stands for the process that controls this worker. Used by the class Worker. At first, the master controls the
  # worker, and sends words (messages) through the channel. When the master has died, the supervisor controls the
  # worker, and sends signals. The supervisor adopts the workers that serve (see AdoptedWorkers).
  class Parent
    # Maximum of seconds from the close of a dying master's channel to the end of the master.
    END_SECONDS = 1
    WORDS = { "TERM" => :retire, "QUIT" => :drain, "INT" => :quit, "HUP" => :reopen }.freeze

    # life_line: the supervisor's LifeLine; nil: the supervisor adopts no workers. worker_links: the WorkerLinks. The
    # supervisor adopts only workers on the scoreboard.
    def initialize(channel, life_line, worker_links)
      @channel = channel
      @life_line = life_line
      @worker_links = worker_links
      @master = Process.ppid
    end

    # The worker's main thread waits until this is readable.
    def to_io = (@adopted ? @life_line : @channel).to_io

    # Returns the words that have arrived through the channel. Adds :adopted once, when the supervisor has become the
    # parent. Adds :closed if no process is left that controls this worker.
    def hear
      return @life_line.cut? ? [:closed] : [] if @adopted

      gone = master_gone? # asked first: the words of a dead master have all arrived
      words = @channel.hear
      return words unless (gone || words.include?(:closed)) && adoptable?

      @adopted = true
      words - [:closed] + [:adopted]
    end

    # The word that a signal of the supervisor stands for; nil before :adopted. The worker must take its signals from
    # the SignalQueue first, then call #hear, then call this method. When a master dies, the supervisor becomes the
    # parent before it can send a signal. So when a signal of the supervisor is in the queue, #hear adds :adopted.
    def word(signal)
      WORDS[signal] if @adopted
    end

    private

    def adoptable?
      @life_line && !@life_line.cut? && @worker_links.pids.include?(Process.pid) && master_ends?
    end

    # True if the master has died. The application may have closed the channel of a living one.
    def master_ends?
      Deadline.new(END_SECONDS).wait { master_gone? || (sleep(0.001) && nil) } || master_gone?
    end

    # The channel of a dead master can still be open: a process that the master has just forked has a copy.
    def master_gone? = Process.ppid != @master
  end
end
