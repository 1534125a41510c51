# frozen_string_literal: true

require_relative "../../../test/support/error"
require_relative "../../../test/support/deadline"
require_relative "../../../test/support/address"
require_relative "../../../test/support/response"
require_relative "../../../test/support/response_reader"
require_relative "../../../test/support/client"

module Bench
  module Abuse
    # A client that keeps the rules, and compares each byte of a response with what apps/soak.ru has to send.
    class Checked
      # The response is not what the application has sent.
      class Wrong < StandardError; end

      KINDS = %i[upload chunked expected unbuffered range ranges file parts stream hijack upgrade pipeline].freeze
      # Seconds. No response of a server that does not hang takes so long.
      LIMIT = 60
      UPLOAD = 200_000 # bytes, at most
      PAUSE = 100 # milliseconds between two parts of a stream

      # addresses: texts as Support::Address takes them. file: the path of the file that the application sends.
      def initialize(addresses, file, random)
        @addresses = addresses
        @file = File.binread(file)
        @random = random
      end

      # Returns [kind, result, text]. result: :ok; :lost, if the connection ended early; :wrong in all other cases.
      def act
        kind = KINDS.sample(random: @random)
        address = @addresses.sample(random: @random)
        Support::Client.open(address) { |client| send(kind, client) }
        [kind, :ok, nil]
      rescue Support::Client::Closed => e
        [kind, :lost, "#{e.message[0, 80]}, #{address}"]
      rescue Wrong, Support::Error, SystemCallError => e
        [kind, :wrong, "#{e.message[0, 120]}, #{address}"]
      end

      private

      def upload(client, path = "/")
        body = bytes
        client.request("POST", path, {}, body, limit: LIMIT)
        check(client, 200, "#{body}done\n")
      end

      def chunked(client, path = "/")
        body = bytes
        client.write("POST #{path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", LIMIT)
        rest = body.dup
        until rest.empty?
          chunk = rest.slice!(0, @random.rand(1..30_000))
          client.write("#{chunk.bytesize.to_s(16)}\r\n#{chunk}\r\n", LIMIT)
        end
        client.write("0\r\n\r\n", LIMIT)
        check(client, 200, "#{body}done\n")
      end

      def expected(client)
        body = bytes
        client.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: #{body.bytesize}\r\nExpect: 100-continue\r\n\r\n")
        check(client, 100, "")
        client.write(body, LIMIT)
        check(client, 200, "#{body}done\n")
      end

      def unbuffered(client) = [method(:upload), method(:chunked)].sample(random: @random).call(client, "/unbuffered")

      def range(client)
        first, last = part
        client.request("GET", "/file", { "Range" => "bytes=#{first}-#{last}" })
        check(client, 206, @file[first..last])
      end

      # The parts are in a multipart body. They are together shorter than the file, otherwise the server sends the file.
      def ranges(client)
        parts = Array.new(2) { part(@file.bytesize / 2) }
        client.request("GET", "/file", { "Range" => "bytes=#{parts.map { |range| range.join("-") }.join(",")}" })
        response = client.read_response(LIMIT)
        check_status(response, 206)
        place = 0
        parts.each do |first, last|
          place = response.body.index("\r\n\r\n#{@file[first..last]}\r\n".b, place) or raise Wrong, "a part is missing"
        end
      end

      def file(client) = get(client, "/file", @file)
      def parts(client) = get(client, "/parts/1", "part\n" * 20)
      def stream(client) = get(client, "/stream/#{PAUSE}", "head\n#{"part\n" * 10}")
      def hijack(client) = get(client, "/hijack/#{PAUSE}", "part\n" * 10)

      def get(client, path, body)
        client.request("GET", path)
        check(client, 200, body)
      end

      # The client sends while it reads.
      def upgrade(client)
        client.request("GET", "/upgrade", { "Connection" => "upgrade", "Upgrade" => "back" })
        check(client, 101, "")
        10.times do
          client.write(sent = @random.bytes(@random.rand(1..30_000)), LIMIT)
          compare(client.read(sent.bytesize, LIMIT), sent)
        end
      end

      def pipeline(client)
        bodies = Array.new(8) { |number| "request #{number} #{"x" * @random.rand(3000)} " }
        head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: "
        client.write(bodies.map { |body| "#{head}#{body.size}\r\n\r\n#{body}" }.join)
        bodies.each { |body| check(client, 200, "#{body}done\n") }
      end

      def check(client, status, body)
        response = client.read_response(LIMIT)
        check_status(response, status)
        compare(response.body, body.b)
      end

      def compare(bytes, expected)
        return if bytes == expected

        place = expected.each_byte.zip(bytes.each_byte).index { |one, other| one != other }
        raise Wrong,
              "#{bytes.bytesize} bytes, expected #{expected.bytesize}; wrong from byte #{place || expected.bytesize}"
      end

      def check_status(response, status)
        response.status == status || raise(Wrong, "status #{response.status}, expected #{status}")
      end

      def bytes = @random.bytes(@random.rand(1..UPLOAD))
      def part(limit = @file.bytesize) = Array.new(2) { @random.rand(limit) }.sort
    end
  end
end
