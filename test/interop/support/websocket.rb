# frozen_string_literal: true

module Interop
  # A client of the WebSocket protocol (RFC 6455), without extensions, on a Support::Client. Each frame is a whole
  # message.
  class Websocket
    # The key and its answer, from RFC 6455, section 1.3.
    KEY = "dGhlIHNhbXBsZSBub25jZQ=="
    ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    FIELDS = { "Connection" => "Upgrade", "Upgrade" => "websocket", "Sec-WebSocket-Version" => "13",
               "Sec-WebSocket-Key" => KEY }.freeze
    OPCODES = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 }.freeze
    FINAL = 0x80
    MASKED = 0x80
    MASK = [0x1a2b3c4d].freeze

    attr_reader :client, :response

    # Opens a connection and upgrades it. behind: bytes that are sent together with the request. Raises Support::Error
    # if the server refuses.
    def initialize(address, target = "/", fields: {}, behind: "")
      @client = Support::Client.open(address)
      head = { "Host" => "test" }.merge(FIELDS, fields).map { |name, value| "#{name}: #{value}\r\n" }.join
      @client.write("GET #{target} HTTP/1.1\r\n#{head}\r\n".b << behind)
      @response = @client.read_response
      return if @response.status == 101 && @response["Sec-WebSocket-Accept"] == ACCEPT

      raise Support::Error, "no upgrade: #{@response.inspect}"
    end

    # Returns the bytes of a message from a client.
    def self.frame(kind, payload)
      payload = payload.b
      words = payload.ljust((payload.bytesize + 3) / 4 * 4, "\0").unpack("N*")
      masked = words.map { |word| word ^ MASK.first }.pack("N*").byteslice(0, payload.bytesize)
      [FINAL | OPCODES.fetch(kind)].pack("C") << length(payload.bytesize) << MASK.pack("N") << masked
    end

    def self.length(size)
      return [MASKED | size].pack("C") if size < 126
      return [MASKED | 126, size].pack("Cn") if size < 65_536

      [MASKED | 127, size].pack("CQ>")
    end

    def send_message(kind, payload)
      @client.write(self.class.frame(kind, payload))
    end

    # Reads a message. Returns its kind and its bytes.
    def receive(limit = Support::Deadline::DEFAULT_SECONDS)
      deadline = Support::Deadline.for(limit)
      first, size = @client.read(2, deadline).unpack("CC")
      raise Support::Error, "a frame that is no whole message: #{first}" unless first.allbits?(FINAL)

      size = @client.read(2, deadline).unpack1("n") if size == 126
      size = @client.read(8, deadline).unpack1("Q>") if size == 127
      [OPCODES.key(first ^ FINAL), @client.read(size, deadline)]
    end

    # Closes the WebSocket as a browser does. Returns the code of the server's answer, after the server has closed the
    # connection.
    def close(code = 1000)
      send_message(:close, [code].pack("n"))
      kind, payload = receive
      raise Support::Error, "#{kind} instead of close" unless kind == :close

      @client.wait_for_end
      payload.unpack1("n")
    ensure
      @client.close
    end
  end
end
