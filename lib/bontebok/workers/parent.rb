# frozen_string_literal: true

require_relative "../system/deadline"

module Bontebok
  # Who tells a worker what to do: the master, through the channel. When the master has died it is the supervisor, which
  # adopts the workers that serve (AdoptedWorkers), and tells them by signals.
  class Parent
    # Seconds from the end of the channel to that of the master, for the kernel.
    END_SECONDS = 1
    WORDS = { "TERM" => :retire, "QUIT" => :drain, "INT" => :quit, "HUP" => :reopen }.freeze

    # life_line: to the supervisor; nil: it adopts nobody. worker_links: on whose board it finds those that it adopts.
    def initialize(channel, life_line, worker_links)
      @channel = channel
      @life_line = life_line
      @worker_links = worker_links
      @master = Process.ppid
    end

    # The worker's main thread waits for it.
    def to_io
      (@adopted ? @life_line : @channel).to_io
    end

    def say(word)
      @channel.say(word)
    end

    # The words that have come: those of the channel; once :adopted; :closed when nobody is there any more.
    def hear
      return @life_line.cut? ? [:closed] : [] if @adopted

      words = @channel.hear
      return words unless words.include?(:closed) && adoptable?

      @adopted = true
      words - [:closed] + [:adopted]
    end

    # The word that a signal stands for; nil: it is no order. The kernel closes the channel of a master that dies before
    # the supervisor can know of it. So a worker that takes its signals and hears after that has heard of the death.
    def word(signal)
      WORDS[signal] if @adopted
    end

    private

    def adoptable?
      @life_line && !@life_line.cut? && @worker_links.pids.include?(Process.pid) && master_ends?
    end

    # The application may have closed a descriptor of ours: then the channel ends, and the master lives.
    def master_ends?
      Deadline.new(END_SECONDS).wait { Process.ppid != @master || (sleep(0.001) && nil) } || Process.ppid != @master
    end
  end
end
