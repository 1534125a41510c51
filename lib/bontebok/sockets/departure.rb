# frozen_string_literal: true

require_relative "departure/steering"
require_relative "departure/takeover"
require_relative "shared_unix_listener"
require_relative "tcp_listener"
require_relative "../system/clock"

module Bontebok
  # The first part of a graceful stop, if other servers have the same addresses (reuse_port, start_server). New
  # connections go to the other servers, while the workers still accept those that come to this server. The loop of the
  # process that has the listeners calls #over? again at each #deadline, and then stops the workers. Without another
  # server, #over? is true at once.
  class Departure
    # The workers accept for a while from a socket that has lost its path: a client may have looked it up just before.
    Grace = Struct.new(:deadline) do
      def over? = Clock.now >= deadline
    end
    private_constant :Grace

    # Seconds.
    GRACE = 0.02
    # Seconds between two looks for a server that starts.
    INTERVAL = 0.02

    # newcomers: a callable that returns whether a server that has got copies of the listeners (OtherServer) starts.
    # patience: seconds that another server gets to load its application; 0: no limit.
    def initialize(listeners, newcomers:, patience:, log:)
      @listeners = listeners
      @log = log
      @times = { patience: patience.zero? ? Float::INFINITY : patience, log: log }
      @steps = steering
      @steps << Grace.new(Clock.now + GRACE) if listeners.grep(SharedUnixListener).any?(&:replaced?)
      @takeover = Takeover.new(listeners.start_server, **@times) if listeners.start_server&.owned?
      @steps.push(*@takeover)
      await(newcomers) if @takeover.nil? && newcomers.call
    end

    # How the workers stop when #over? is true. :retire leaves the connections in the queues to another server; :drain
    # accepts them.
    def how
      @listeners.all? { |one| left?(one) } ? :retire : :drain
    end

    # Called with a further signal to stop.
    def insist
      @takeover&.insist
    end

    # True if all addresses are left to the other servers.
    def over?
      @steps.reject!(&:over?)
      @newcomers = nil unless awaited?
      @steps.empty? && @newcomers.nil?
    end

    # The time of the next call of #over?; nil: all addresses are left.
    def deadline = [*@steps.map(&:deadline), *(@look if @newcomers)].min

    private

    # Meanwhile the workers of this server continue to serve. The other server may also end.
    def await(newcomers)
      @newcomers = newcomers
      @look = Clock.now
      @patient_until = Clock.now + @times[:patience]
      @log.info("another server is starting: this server serves until the other one is ready")
    end

    def awaited?
      return false unless @newcomers&.call

      @look = Clock.now + INTERVAL
      return true if Clock.now < @patient_until

      @log.warn("the other server is not ready in time: this server stops")
      false
    end

    def steering
      groups = @listeners.grep(TcpListener).filter_map(&:group)
      own = groups.map(&:cookie)
      pids = @listeners.worker_links.method(:pids)
      groups.map { |group| Steering.new(group, own: own, pids: pids, **@times) }
    end

    # True if another server accepts from the socket.
    def left?(listener)
      listener.origin ? @takeover&.taken_over : listener.taken_over?
    end
  end
end
