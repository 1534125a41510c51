# frozen_string_literal: true

require_relative "../system/deadline"

module Bontebok
  # The process that tells a worker what to do. At first this is the master, through the channel. When the master has
  # died, it is the supervisor, which adopts the workers that serve (AdoptedWorkers) and gives them orders by signals.
  class Parent
    # Seconds that the kernel may take from the end of the channel to the end of the master.
    END_SECONDS = 1
    WORDS = { "TERM" => :retire, "QUIT" => :drain, "INT" => :quit, "HUP" => :reopen }.freeze

    # life_line: to the supervisor; nil: it adopts no workers. worker_links: has the scoreboard on which the supervisor
    # finds the workers that it adopts.
    def initialize(channel, life_line, worker_links)
      @channel = channel
      @life_line = life_line
      @worker_links = worker_links
      @master = Process.ppid
    end

    # The worker's main thread waits until this is readable.
    def to_io
      (@adopted ? @life_line : @channel).to_io
    end

    def say(word)
      @channel.say(word)
    end

    # Returns the words that have come through the channel; :adopted, once, when the supervisor has taken over; :closed
    # if neither master nor supervisor is left.
    def hear
      return @life_line.cut? ? [:closed] : [] if @adopted

      words = @channel.hear
      return words unless words.include?(:closed) && adoptable?

      @adopted = true
      words - [:closed] + [:adopted]
    end

    # The word that a signal stands for; nil: it is no order. Take the signals first, and call #hear before this method.
    # When a master dies, the kernel closes its channel before the supervisor can send a signal. So #hear has found out
    # about the death.
    def word(signal)
      WORDS[signal] if @adopted
    end

    private

    def adoptable?
      @life_line && !@life_line.cut? && @worker_links.pids.include?(Process.pid) && master_ends?
    end

    # The application may have closed the server's descriptor: then the channel ends, although the master lives.
    def master_ends?
      Deadline.new(END_SECONDS).wait { Process.ppid != @master || (sleep(0.001) && nil) } || Process.ppid != @master
    end
  end
end
