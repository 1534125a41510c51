# frozen_string_literal: true

require_relative "connection"

module Bench
  module Faults
    # Sends requests at fixed times, independent of the server (open loop), alternately on a new connection and on a
    # kept-alive one. The probe has its own process, so that other work of the bench delays no request.
    class Probe
      # due: seconds after the start. kind: :new or :kept. after: seconds from due until the response was complete; nil
      # without a response. result: as in Connection#step, or :unanswered (the client gave up), or :closed (no
      # kept-alive connection was open when the request was due, and reopen is false).
      Request = Struct.new(:due, :kind, :after, :result, keyword_init: true)

      # Number of kept-alive connections. At 20 requests per second, each connection has a request every two seconds.
      KEPT = 20
      # Each request is due at a random moment within its time slot of 1/rate seconds. The moments are the same for
      # every server. Evenly spaced requests would go to the workers in a fixed order.
      SEED = 1
      # Seconds after which a client gives up.
      TIMEOUT = 5

      # kinds: [:new, :kept] or one of them. reopen: the client replaces a kept-alive connection that the server has
      # closed. owner: the pid of the worker to which all kept-alive connections go at the start; nil for any worker.
      def initialize(address, path:, rate:, seconds:, kinds: %i[new kept], reopen: true, owner: nil)
        @address = address
        @text = { new: request(path, "close"), kept: request(path, "keep-alive") }
        random = Random.new(SEED)
        @plan = Array.new(rate * seconds) do |number|
          Request.new(due: (number + random.rand) / rate, kind: kinds[number % kinds.size])
        end
        @seconds = seconds
        @pool_size = kinds == [:kept] ? 2 * KEPT : KEPT
        @reopen = reopen
        @owner = owner&.to_s
        @idle = []
        @pending = {}
      end

      # Yields the start time (monotonic clock) while the probe runs. Returns all requests.
      def run
        reader, writer = IO.pipe(binmode: true)
        start = now + 1
        pid = fork { report(writer, start) }
        writer.close
        yield start
        Marshal.load(reader.read) # rubocop:disable Security/MarshalLoad -- its own child has written it
      ensure
        reader.close
        Process.wait(pid)
      end

      private

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      def request(path, connection) = "GET #{path} HTTP/1.1\r\nHost: probe\r\nConnection: #{connection}\r\n\r\n"

      # exit! does not run the exit handlers, which belong to the parent.
      def report(writer, start)
        @start = start
        fill_pool
        send_all
        writer.write(Marshal.dump(@plan))
        writer.close
      ensure
        exit!
      end

      def fill_pool
        filling = Array.new(@owner ? 3 * @pool_size : @pool_size) do
          Connection.new(@address).tap { |connection| connection.ask(@text[:kept]) }
        end
        until filling.empty? || now >= @start
          ready = select_of(filling, @start - now)
          ready.each(&:step)
          done, filling = filling.partition(&:result)
          fit, unfit = done.partition { |connection| connection.kept? && [nil, connection.body].include?(@owner) }
          @idle.concat(fit)
          unfit.each(&:close)
        end
        [*filling, *@idle.slice!(@pool_size..)].each(&:close)
      end

      def send_all
        waiting = @plan.dup
        until waiting.empty? && @pending.empty?
          begin_request(waiting.shift) while waiting.any? && now >= @start + waiting.first.due
          limit = waiting.empty? ? 0.1 : @start + waiting.first.due - now
          select_of(@pending.keys, [limit, 0].max.clamp(0, 0.1)).each(&:step)
          @pending.each_key.select(&:result).each { |connection| finish(connection) }
          give_up
        end
      end

      def select_of(connections, limit)
        return sleep(limit) && [] if connections.empty?

        sockets = connections.to_h { |connection| [connection.socket, connection] }
        writers = connections.select(&:connecting?).map(&:socket)
        ready = IO.select(sockets.keys - writers, writers, nil, limit) || [[], []]
        (ready[0] | ready[1]).map { |socket| sockets[socket] }
      end

      def begin_request(request)
        connection = request.kind == :kept ? kept_connection : Connection.new(@address)
        return request.result = :closed unless connection

        @pending[connection] = request
        connection.ask(@text[request.kind])
      end

      # nil if no connection is left, and reopen is false.
      def kept_connection
        connection = @idle.shift
        return connection if connection&.open?
        return Connection.new(@address) if @reopen

        connection&.close
        nil
      end

      def finish(connection)
        request = @pending.delete(connection)
        request.after = now - @start - request.due
        request.result = connection.result
        return @idle << connection if request.kind == :kept && connection.kept? && @idle.size < @pool_size

        connection.close
      end

      # The client gives up a request after TIMEOUT seconds, or one second after the end of the run, whichever is
      # earlier.
      def give_up
        @pending.select { |_connection, request| over?(request) }.each_key do |connection|
          @pending.delete(connection).result = :unanswered
          connection.close
        end
      end

      def over?(request) = now > @start + [request.due + TIMEOUT, @seconds + 1].min
    end
  end
end
