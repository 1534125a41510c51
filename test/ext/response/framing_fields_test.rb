# frozen_string_literal: true

require_relative "../support/lane_case"

# The fields by which an application frames its response itself, for each kind of body, HTTP version and status.
class FramingFieldsTest < Support::LaneCase
  Each = Struct.new(:parts) do
    def each(&) = parts.each(&)
  end

  BODIES = { "array" => ->(parts) { parts }, "each" => ->(parts) { Each.new(parts) },
             "stream" => ->(parts) { ->(stream) { parts.each { |part| stream.write(part) } && stream.close } } }.freeze
  PLAIN = %w[one two].freeze
  CHUNKS = ["3\r\none\r\n", "3;a=b\r\ntwo\r\n", "0\r\nx-sum: 1\r\n\r\n"].freeze
  CODED = { "transfer-encoding" => "chunked" }.freeze
  REQUESTS = ["GET / HTTP/1.1", "GET / HTTP/1.0", "HEAD / HTTP/1.1", "HEAD / HTTP/1.0"].freeze
  STATUSES = [200, 204, 205, 304].freeze
  NEXT = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"

  ABSENT = [
    { "content-length" => nil }, { "content-length" => "" }, { "content-length" => " " }, { "content-length" => [] },
    { "content-length" => [nil] }, { "Content-Length" => nil }, { "transfer-encoding" => nil },
    { "transfer-encoding" => "" }, { "transfer-encoding" => "identity" }, { "connection" => nil },
    { "connection" => "keep-alive" }, { "connection" => "" }, { "keep-alive" => "timeout=5" }, { "upgrade" => "h2c" },
    { "upgrade" => nil }, { "date" => nil }, { "date" => "" }, { "server" => nil }
  ].freeze

  def test_a_field_without_a_value_is_as_if_it_were_absent
    ABSENT.product(BODIES.keys, STATUSES, REQUESTS) do |fields, kind, status, request|
      plain, given = [{}, fields].map { |headers| wire(request, [status, headers, BODIES[kind].call(PLAIN)]) }

      assert_equal plain, given, [fields, kind, status, request].inspect
    end
  end

  def test_a_content_length_in_another_form_is_accepted
    [6, "06", " 6 ", ["6"], [6], %w[6 6], [6, nil], "6\n6"].product(BODIES.keys) do |length, kind|
      response = [200, { "content-length" => length }, BODIES[kind].call(PLAIN)]

      assert_equal "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nonetwo#{NEXT}", wire(REQUESTS[0], response), kind
    end
  end

  # The fields of a message are the same for all kinds of bodies.
  def test_the_chunks_of_the_application_are_sent_or_decoded
    [CODED, { "transfer-encoding" => ["Chunked"] }, CODED.merge("content-length" => "6"),
     CODED.merge("content-length" => nil)].product(BODIES.keys) do |fields, kind|
      response = -> { [200, fields, BODIES[kind].call(CHUNKS)] }

      assert_equal "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n#{CHUNKS.join}#{NEXT}",
                   wire(REQUESTS[0], response.call), kind
      assert_equal "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nonetwo", wire(REQUESTS[1], response.call), kind
    end
  end

  def test_a_response_without_a_body_has_no_coding
    BODIES.each_value do |body|
      response = ->(status) { [status, CODED, body.call(CHUNKS)] }

      assert_equal "HTTP/1.1 200 OK\r\n\r\n#{NEXT}", wire(REQUESTS[2], response.call(200))
      assert_equal "HTTP/1.1 204 No Content\r\n\r\n#{NEXT}", wire(REQUESTS[0], response.call(204))
      assert_equal "HTTP/1.1 304 Not Modified\r\n\r\n#{NEXT}", wire(REQUESTS[0], response.call(304))
    end
  end

  def test_the_names_of_the_applications_trailers_are_sent
    assert_includes wire(REQUESTS[0], [200, CODED.merge("trailer" => "x-sum"), CHUNKS]), "\r\ntrailer: x-sum\r\n"
  end

  NOT_IN_CHUNKS = "Transfer-Encoding is chunked, but the body is not in chunks, or lacks the last chunk"

  # A proxying application may pass on the field of a response that it has decoded.
  def test_a_body_that_is_not_in_chunks_gets_an_error
    %w[array each].product(REQUESTS[0, 2], [PLAIN, ["\r\n"], ["x" * 300_000]]) do |kind, request, parts|
      assert_match(%r{\AHTTP/1.1 500 }, wire(request, [200, CODED, BODIES[kind].call(parts)]), kind)
      assert_equal NOT_IN_CHUNKS, @server.next_report.error.message
    end
  end

  # The head of a stream is sent before its first part.
  def test_a_stream_that_is_not_in_chunks_is_reset
    2.times do |version|
      wire(REQUESTS[version], [200, CODED, BODIES["stream"].call(PLAIN)])

      assert_equal NOT_IN_CHUNKS, @server.next_report.error.message
    end
  end

  def test_a_body_that_lacks_its_last_chunk_is_reset
    %w[array each].product([[], CHUNKS[0, 2], ["3\r\non"]]) do |kind, parts|
      refute_includes wire(REQUESTS[0], [200, CODED, BODIES[kind].call(parts)]), NEXT

      assert_equal [:error, "GET /: #{NOT_IN_CHUNKS}", nil], @server.next_report.to_a
    end
  end

  def test_other_codings_and_lengths_get_an_error
    [["transfer-encoding", "gzip, chunked"], ["content-length", "6, 6"], ["content-length", "6.0"],
     ["content-length", 6.0], ["content-length", "-1"], ["content-length", %w[6 7]]].each do |name, value|
      assert_match(%r{\AHTTP/1.1 500 }, wire(REQUESTS[0], [200, { name => value }, PLAIN]), value.to_s)
      assert_equal "the field #{name.inspect} has an invalid value", @server.next_report.error.message
    end
  end

  # The chunks do not pass through the server, so the field has to say what they are.
  def test_the_coding_of_a_partial_hijack_is_announced
    REQUESTS[0, 2].each do |request|
      hijack = ->(socket) { socket.write(CHUNKS.join) && socket.close }

      assert_equal "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n#{CHUNKS.join}",
                   wire(request, [200, CODED.merge("rack.hijack" => hijack), []]).delete_suffix(NEXT)
    end
    assert_equal([:detached] * 2, @server.reports.map(&:level))
  end

  private

  # Sends the request, and a request for another path on the same connection. Returns all bytes of the responses, but
  # the Date fields.
  def wire(request, response)
    @response = response
    @server ||= serve { |env| env["PATH_INFO"] == "/next" ? OK : @response }
    @server.connect do |client|
      client.write("#{request}\r\nHost: test\r\n\r\nGET /next HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
      client.read_to_end.gsub(/^date: [^\r\n]+\r\n/i, "")
    rescue Support::Client::Reset => e
      e.partial
    end
  end
end
