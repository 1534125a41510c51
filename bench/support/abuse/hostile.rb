# frozen_string_literal: true

require "socket"

module Bench
  module Abuse
    # A client that breaks off. It sends a part of its bytes or all of them, reads some of the response or nothing, and
    # leaves: with a reset, with a close, or with a close of its sending half only.
    class Hostile
      class << self
        private

        def get(path, fields = "") = "GET /#{path} HTTP/1.1\r\nHost: a\r\n#{fields}\r\n"
        def post(path, fields, body) = "POST /#{path} HTTP/1.1\r\nHost: a\r\n#{fields}\r\n\r\n#{body}"
      end

      BODY = ("x" * 300_000).freeze
      LENGTH = "Content-Length: #{BODY.size}".freeze
      CHUNKED = "Transfer-Encoding: chunked"
      CHUNKS = ("4e20\r\n#{"x" * 20_000}\r\n" * 10).freeze
      # { kind => bytes }
      SCRIPTS = {
        upload: post("", LENGTH, BODY),
        chunked: post("", CHUNKED, "#{CHUNKS}0\r\n\r\n"),
        expecting: post("", "#{LENGTH}\r\nExpect: 100-continue", BODY),
        unbuffered: post("unbuffered", LENGTH, BODY),
        unbuffered_chunked: post("unbuffered", CHUNKED, "#{CHUNKS}0\r\n\r\n"),
        unbuffered_expecting: post("unbuffered", "#{LENGTH}\r\nExpect: 100-continue", BODY),
        bad_chunk: post("unbuffered", CHUNKED, "#{CHUNKS}zz\r\n"),
        two_framings: post("", "Content-Length: 5\r\n#{CHUNKED}", "0\r\n\r\n"),
        long_head: get("", "X: #{"y" * 80_000}\r\n"),
        late: get("sleep/50"),
        large: get("large") * 3,
        file: get("file") * 2,
        ranges: get("file", "Range: bytes=0-299999,600000-899999\r\n"),
        parts: get("parts/5"),
        stream: get("stream/50") * 2,
        hijack: get("hijack/50"),
        upgrade: get("upgrade", "Connection: upgrade\r\nUpgrade: back\r\n") + BODY,
        pipeline: get("sleep/1") * 40,
        mixed_pipeline: %w[sleep/1 large stream file parts/1 hijack].map { |path| get(path) }.join
      }.freeze
      RECEIVE_BUFFER = 4096
      # Seconds that most clients stay, and that a few stay, at most. The server's timeouts are between the two.
      STAYS = [0.5, 15].freeze
      READ = 40_000 # bytes, at most

      def initialize(addresses, random)
        @addresses = addresses
        @random = random
      end

      # Returns the kind.
      def act
        kind = SCRIPTS.keys.sample(random: @random)
        socket = connect(@addresses.sample(random: @random))
        give(socket, part_of(SCRIPTS[kind]))
        stay(socket) unless one_in?(3)
        leave(socket)
        kind
      rescue SystemCallError, EOFError
        kind # the server has closed the connection
      ensure
        socket&.close
      end

      private

      def one_in?(number) = @random.rand(number).zero?

      def connect(address)
        return UNIXSocket.new(address.delete_prefix("unix:")) if address.start_with?("unix:")

        host, port = address.split(":")
        socket = Socket.new(:INET, :STREAM)
        socket.setsockopt(:SOCKET, :RCVBUF, RECEIVE_BUFFER) if one_in?(2)
        socket.connect(Addrinfo.tcp(host, port))
        socket
      end

      # Most faults are at the ends of the stages: in the head, and just behind it.
      def part_of(bytes)
        head = bytes.index("\r\n\r\n") + 4
        case @random.rand(4)
        when 0 then bytes[0, @random.rand(head + 2)]
        when 1 then bytes[0, @random.rand(bytes.size)]
        else bytes
        end
      end

      # Returns also if the server reads nothing for half a second.
      def give(socket, bytes)
        until bytes.empty?
          sent = socket.write_nonblock(bytes, exception: false)
          return if sent == :wait_writable && !socket.wait_writable(0.5)

          bytes = bytes.byteslice(sent..) if sent.is_a?(Integer)
        end
      end

      # Reads nothing, or a few bytes from time to time.
      def stay(socket)
        seconds = @random.rand(STAYS[one_in?(15) ? 1 : 0].to_f)
        return sleep(seconds) if one_in?(3)

        10.times do
          break unless socket.wait_readable(seconds / 5)

          socket.readpartial(@random.rand(1..READ))
          sleep(seconds / 10)
        end
      end

      def leave(socket)
        case @random.rand(3)
        when 0 then socket.setsockopt(Socket::Option.linger(true, 0))
        when 1
          socket.close_write
          socket.wait_readable(0.5)
        end
      end
    end
  end
end
