# frozen_string_literal: true

require_relative "probe"
require_relative "../../system/clock"

module Bontebok
  class Departure
    # Gives the new connections of one TCP port to another server (reuse_port), and waits until none is left for this
    # server. Meanwhile the workers go on serving. The steps:
    #
    #   1. New connections go to another socket of the group.
    #   2. After SETTLE, all connections whose handshake is not complete are noted. They may still belong to this
    #      server.
    #   3. Every INTERVAL: if the noted connections are complete or gone, and the accept queue is empty, twice in a row,
    #      nothing is left.
    #
    # A probe shows whether the new connections really go to another server. If not, the next socket is tried. If the
    # other server ends meanwhile, or if the kernel does not allow something, this server stops as if it were alone. If
    # another server has bound the port and still loads its application, this server serves until the other one listens.
    class Steering
      # Seconds. The kernel may be about to give a packet to the former socket.
      SETTLE = 0.02
      # Seconds between two looks.
      INTERVAL = 0.005
      # A connection is in neither list for a moment between the end of its handshake and the accept queue.
      CLEAN_LOOKS = 2
      # Seconds after which the server stops, even if handshakes are not complete. Clients may have disappeared.
      LIMIT = 3
      # Seconds between two looks for a server that is starting.
      NEWCOMER_INTERVAL = 0.05

      # The time of the next call of #over?.
      attr_reader :deadline

      # own: the cookies of this server's sockets. pids: a callable that returns the pids of the processes that accept
      # this server's connections. patience: seconds that another server gets to load its application.
      def initialize(group, own:, pids:, patience:, log:)
        @group = group
        @own = own
        @pids = pids
        @log = log
        @deadline = Clock.now
        @patient_until = Clock.now + patience
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
          await_newcomer
        elsif members == @members
          look
        else
          try(members)
        end
      end

      def await_newcomer
        return finish if Clock.now >= @patient_until || !@group.newcomer?

        note("another server is starting: this server serves until the other one listens")
        @deadline = Clock.now + NEWCOMER_INTERVAL
      end

      def try(members)
        @members = members
        @numbers = @group.numbers(members)
        @latest ||= Clock.now + [LIMIT, @group.defer_accept + 1].max
        steer
      end

      def note(message)
        @log.info("#{@group}: #{message}") unless message == @noted
        @noted = message
      end

      def steer
        number = @numbers.shift
        return finish unless number && Clock.now < @latest

        @group.steer(number)
        note("another server gets the new connections")
        @probe&.close
        @probe = Probe.new(@group.info, deferred: @group.defer_accept.positive?)
        @half_open = nil
        @clean = 0
        @deadline = Clock.now + SETTLE
      end

      def look
        @half_open = @half_open ? left_of(@half_open) : @group.half_open
        @clean = @half_open.empty? && @group.queued.zero? ? @clean + 1 : 0
        return steer if @probe.accepted_by?(@pids.call)
        return finish if @clean == CLEAN_LOOKS
        return give_up if Clock.now >= @latest

        @deadline = Clock.now + INTERVAL
      end

      # The kernel goes through all its connections for this.
      def left_of(half_open)
        half_open.empty? ? half_open : half_open & @group.half_open
      end

      def give_up
        @log.warn("#{@group}: stops although some handshakes are not complete")
        finish
      end

      def finish
        @probe&.close
        @over = true
      end
    end
  end
end
