# frozen_string_literal: true

module Bontebok
  # What others are told of a process's lanes: whether they have requests, and that Ruby moves. For Lanes and Heartbeat.
  class LifeSigns
    # core: the Core::Worker. channel: to the parent; nil: nobody is told.
    def initialize(core, channel)
      @core = core
      @channel = channel
      @lock = Mutex.new
    end

    # On the board.
    def beat
      @core.beat
    end

    # Is nothing in hand, and was nothing since this was asked last? The parent hears of it, and of the next request.
    def rest
      @lock.synchronize { @core.rest.tap { |rests| @channel&.say(:resting) if rests } }
    end

    # The first request since. From the thread that has it: no other may have its turn before it ends.
    def busy
      @lock.synchronize { @channel&.say(:busy) }
    end
  end
end
