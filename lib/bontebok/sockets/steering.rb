# frozen_string_literal: true

require_relative "steering_probe"
require_relative "../system/clock"

module Bontebok
  # Gives the new connections of one TCP port to another server (ReusePort), and waits until none is left for this
  # server. Meanwhile the workers go on serving. The steps:
  #
  #   1. New connections go to another socket of the group.
  #   2. After SETTLE, all connections whose handshake is not complete are noted: they may still belong to this server.
  #   3. Every INTERVAL: if the noted connections are complete or gone, and the accept queue is empty, twice in a row,
  #      nothing is left.
  #
  # A probe shows whether the new connections really go to another server. If not, the next socket is tried. If the
  # other server ends meanwhile, or if the kernel does not allow something, this server stops as if it were alone.
  class Steering
    # Seconds. The kernel may be about to give a packet to the former socket.
    SETTLE = 0.02
    # Seconds between two looks.
    INTERVAL = 0.005
    # A connection is in neither list for a moment between the end of its handshake and the accept queue.
    CLEAN_LOOKS = 2
    # Seconds after which the server stops, even if handshakes are not complete. Clients may have disappeared.
    LIMIT = 3

    # The time of the next call of #over?.
    attr_reader :deadline

    # own: the cookies of this server's sockets. pids: a callable that returns the pids of the processes that accept
    # this server's connections.
    def initialize(group, own:, pids:, log:)
      @group = group
      @own = own
      @pids = pids
      @log = log
      @deadline = Clock.now
      @latest = Clock.now + [LIMIT, group.defer_accept + 1].max
    end

    # Does what is to do at #deadline. Returns true if the server can stop.
    def over?
      proceed unless @over || Clock.now < @deadline
      @over
    rescue SystemCallError => e
      @log.info("#{@group}: cannot give new connections to another server: #{e.message}")
      finish
    end

    private

    def proceed
      members = @group.members
      if (members - @own).empty?
        finish
      elsif Clock.now >= @latest
        @log.warn("#{@group}: stops although some handshakes are not complete")
        finish
      elsif members == @members
        look
      else
        try(members)
      end
    end

    def try(members)
      @log.info("#{@group}: another server gets the new connections") unless @members
      @members = members
      @numbers = @group.numbers(members)
      steer
    end

    def steer
      number = @numbers.shift or return finish
      @group.steer(number)
      @probe&.close
      @probe = SteeringProbe.new(@group.info, deferred: @group.defer_accept.positive?)
      @half_open = nil
      @clean = 0
      @deadline = Clock.now + SETTLE
    end

    def look
      now = @group.half_open
      @half_open = @half_open ? @half_open & now : now
      @clean = @half_open.empty? && @group.queued.zero? ? @clean + 1 : 0
      return steer if @probe.accepted_by?(@pids.call)
      return finish if @clean == CLEAN_LOOKS

      @deadline = Clock.now + INTERVAL
    end

    def finish
      @probe&.close
      @over = true
    end
  end
end
