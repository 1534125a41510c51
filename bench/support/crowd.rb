# frozen_string_literal: true

require "socket"

module Bench
  # Slow and idle clients of a server. There are five kinds:
  #
  # - Idle clients have had a response, and their connections are kept alive.
  # - Dripping clients send one byte of a request's head per second, and never finish the head.
  # - Halves are clients that have sent half a head.
  # - Deaf clients send a request and do not read the response.
  # - Slow readers read a few bytes of the response each second.
  class Crowd
    REQUEST = "GET / HTTP/1.1\r\nHost: idle\r\n\r\n"
    RESPONSE_END = "Hello, World!\n"
    DRIPPED = "GET / HTTP/1.1\r\nHost: drip\r\nX: #{'a' * 10_000}".freeze
    HALF = "GET / HTTP/1.1\r\nHost: half\r\n"
    # Size of a slow reader's receive buffer, in bytes.
    RECEIVE_BUFFER = 4096
    # Dripping clients begin with 0 to 19 bytes, so that the server has heads of all these lengths at the same time.
    STAGES = 20

    # address: "/path" or "127.0.0.1:PORT". source: the clients' IP address, "127.0.0.N", for TCP. Each IP address has
    # its own ports.
    def initialize(address, source: "127.0.0.1")
      @address = address
      @source = source
      @idle = []
      @drips = []
      @halves = []
      @wanted = 0
      @deaf = []
      @readers = []
      @begun = {}.compare_by_identity
    end

    def idle(count)
      count.times do
        socket = connect
        socket.write(REQUEST)
        response = +""
        response << socket.readpartial(4096) until response.end_with?(RESPONSE_END)
        @idle << socket
      end
      self
    end

    # A thread sends the bytes. A client that the server answers or closes is not replaced. #lost counts such clients.
    def drip(count)
      @drips = Array.new(count) { |number| begin_to_drip(number % STAGES) }
      @dripper = Thread.new { loop { drip_for_a_second } }
      self
    end

    # Connects the clients, for at most this number of seconds, because a server that is busy with one client may accept
    # no other client.
    def hold(count, seconds)
      @wanted = count
      holder = Thread.new { count.times { hold_half } }
      holder.join(seconds) || holder.kill.join
      self
    end

    # Returns when the response to each client has begun, or after this number of seconds.
    def ask(count, path, seconds)
      @deaf = Array.new(count) { ask_for(path) }
      limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
      waiting = @deaf
      until waiting.empty? || (left = limit - Process.clock_gettime(Process::CLOCK_MONOTONIC)).negative?
        waiting -= IO.select(waiting, nil, nil, left)&.first.to_a
      end
      self
    end

    # Each client reads this number of bytes per second. Returns when no response has begun for this number of seconds.
    def read_slowly(count, path, bytes, seconds)
      @wanted = count
      asker = Thread.new { count.times { @readers << ask_for(path, RECEIVE_BUFFER) } }
      @reader = Thread.new { loop { evenly(@readers.dup) { |socket| read_some(socket, bytes) } } }
      before = nil
      sleep(seconds) until before == (before = @begun.size)
      asker.kill.join
      self
    end

    # [idle, dripping]: numbers of clients that the server has answered or closed.
    def lost
      [@idle, @drips.map(&:first)].map { |sockets| sockets.count { |socket| !waits?(socket) } }
    end

    # The number of halves that the server has answered or closed, or that could not connect.
    def lost_halves = @wanted - @halves.count { |socket| waits?(socket) }

    # The number of slow readers that the server has closed, or that have read no byte.
    def lost_readers = @wanted - @begun.keys.count { |socket| !socket.closed? }

    # Bytes that all dripping clients together have sent, without the 0 to 19 bytes at the beginning.
    def dripped = @drips.each_with_index.sum { |(_socket, sent), number| sent - (number % STAGES) }

    def leave
      [@dripper, @reader].each { |thread| thread&.kill&.join }
      [*@idle, *@drips.map(&:first), *@halves, *@deaf, *@readers].each(&:close)
    end

    private

    def connect(receive_buffer = nil)
      return UNIXSocket.new(@address) if @address.start_with?("/")

      host, port = @address.split(":")
      socket = Socket.new(:INET, :STREAM)
      socket.setsockopt(:SOCKET, :RCVBUF, receive_buffer) if receive_buffer
      socket.setsockopt(:TCP, :NODELAY, true)
      socket.bind(Addrinfo.tcp(@source, 0))
      socket.connect(Addrinfo.tcp(host, port))
      socket
    end

    def hold_half
      socket = connect
      socket.write(HALF)
      @halves << socket
    rescue Errno::ENOTCONN # the accept queue of a unix socket is full
      socket.close
      sleep 0.001
      retry
    rescue SystemCallError
      nil
    end

    def drip_for_a_second
      evenly(@drips.each_index) { |number| @drips[number] = drip_byte(*@drips[number]) }
    end

    # Yields the clients one by one, evenly spaced over one second.
    def evenly(clients)
      pause = 1.0 / [clients.count, 1].max
      due = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      clients.each do |client|
        yield client
        wait = (due += pause) - Process.clock_gettime(Process::CLOCK_MONOTONIC)
        sleep(wait) if wait.positive?
      end
    end

    def ask_for(path, receive_buffer = nil)
      connect(receive_buffer).tap { |socket| socket.write("GET #{path} HTTP/1.1\r\nHost: slow\r\n\r\n") }
    end

    def read_some(socket, bytes)
      return if socket.closed?

      part = socket.read_nonblock(bytes, exception: false)
      @begun[socket] = true if part.is_a?(String)
      socket.close if part.nil?
    rescue SystemCallError
      socket.close
    end

    def begin_to_drip(sent)
      socket = connect
      socket.write(DRIPPED[0, sent])
      [socket, sent]
    end

    def drip_byte(socket, sent)
      written = socket.write_nonblock(DRIPPED[sent], exception: false)
      [socket, written == :wait_writable ? sent : sent + 1]
    rescue SystemCallError
      [socket, sent]
    end

    def waits?(socket)
      socket.read_nonblock(1, exception: false) == :wait_readable
    rescue SystemCallError
      false
    end
  end
end
