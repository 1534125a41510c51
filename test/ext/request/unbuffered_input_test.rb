# frozen_string_literal: true

require "stringio"
require_relative "../support/lane_case"
require_relative "../support/inputs"
require_relative "../support/unbuffered"

# rack.input of a request whose body the application reads while the body comes (unbuffered_bodies).
class UnbufferedInputTest < Support::LaneCase
  include Support::Inputs
  include Support::Unbuffered

  # Each script has the same result for rack.input and for a StringIO.
  SCRIPTS = [
    ->(io) { [io.read, io.read, io.read(1), io.read(0), io.eof?, io.pos] },
    ->(io) { [io.read(7), io.read(20_000), io.read(3, buffer = +"old"), buffer, io.pos, io.read(nil, buffer), buffer] },
    ->(io) { [io.gets, io.lineno, io.gets("2"), io.gets(nil, 20), io.gets(""), io.pos, io.readlines.size, io.gets] },
    ->(io) { [io.getc, io.getbyte, io.readchar, io.readbyte, io.gets(chomp: true), io.each_byte.sum, io.getc] },
    ->(io) { [io.each_line.first(3), io.each(nil, 999).to_a, io.eof?, io.read] },
    ->(io) { [io.seek(0), io.rewind, io.pos, io.read(4), io.seek(-2, IO::SEEK_CUR), io.pos, io.seek(4), io.read] },
    ->(io) { [io.external_encoding, io.binmode.equal?(io), io.closed?, io.close, io.closed?] }
  ].freeze

  # The client sends the body in chunks of 0 to 97 bytes and in writes of 1,000 bytes.
  def test_the_methods_return_the_same_as_those_of_stringio
    chunks = LONG.each_line.map { |line| "#{line.size.to_s(16)}\r\n#{line}\r\n" }.join << "0\r\n\r\n"
    SCRIPTS.each_with_index do |script, number|
      found = with_pieces((CHUNKED + chunks).scan(/.{1,1000}/mn), &script)

      assert_equal script.call(StringIO.new(LONG)), found, "script #{number}"
    end
  end

  def test_the_application_reads_what_has_come
    with_body_to_come(LENGTH) do |input, client|
      assert_raises(IO::WaitReadable) { input.read_nonblock(9) }
      assert_equal :wait_readable, input.read_nonblock(9, exception: false)
      client.write("abc")

      assert_equal "a", input.readpartial(1)
      assert_equal %w[bc bc], [input.readpartial(9, buffer = +"old"), buffer]
      assert_equal 6, input.size
      client.write("def")

      assert_equal "def", input.readpartial(9)
      assert_equal [nil, "", ""], [input.read(1), input.read, input.readpartial(0)]
      assert_raises(EOFError) { input.readpartial(1) }
      assert_raises(EOFError) { input.read_nonblock(1) }
      %i[readpartial sysread read_nonblock].each { |name| assert_raises(TypeError) { input.public_send(name, nil) } }
    end
  end

  def test_a_body_that_was_read_cannot_be_read_again
    with_body_to_come(LENGTH) do |input, client|
      client.write("abcdef")
      input.read(2)
      input.rewind

      assert_equal 0, input.pos
      %i[read gets getc eof?].each { |method| assert_raises(Errno::ESPIPE) { input.public_send(method) } }
      input.seek(2)

      assert_equal "cdef", input.read
    end
  end

  def test_the_env_tells_what_the_client_has_told
    seen = Queue.new
    server = serve(**UNBUFFERED) { |env| (seen << [env["CONTENT_LENGTH"], env["rack.input"].size]) && OK }
    [LENGTH, CHUNKED].each { |head| server.raw(head) }

    assert_equal [["6", 6], [nil, nil]], [seen.pop, seen.pop]
  end

  def test_a_body_that_breaks_off_raises
    error = closed = nil
    body = ["never sent"]
    body.define_singleton_method(:close) { closed = true }
    with_broken_off(body) { |raised| error = raised }

    assert_kind_of Bontebok::ClientGone, error
    assert closed
  end

  def test_the_client_is_told_why_its_body_is_rejected
    { "x\r\n" => [400, "a chunk without a valid size"], "a00000\r\n" => [413, "max_body: the body is too large"],
      "1\r\nabc" => [400, "no line end after the bytes of a chunk"] }.each do |bytes, (status, text)|
      server = serve(**UNBUFFERED) { |env| env["rack.input"].read && OK }

      assert_equal status, server.raw(CHUNKED + bytes).status
      assert_equal([[:info, "127.0.0.1: #{text} (#{status})"]], server.reports.map { |report| report.first(2) })
    end
  end

  def test_the_application_may_respond_to_a_bad_body
    server = serve(**UNBUFFERED) do |env|
      env["rack.input"].read
    rescue Bontebok::BadBody => e
      [422, {}, [e.message]]
    end
    response = server.raw("#{CHUNKED}x\r\n")

    assert_equal 422, response.status
    assert_includes response.body, "malformed"
  end

  def test_continue_is_sent_when_the_application_reads
    with_body_to_come("#{HEAD}Content-Length: 6\r\nExpect: 100-continue\r\n\r\n") do |input, client|
      assert client.quiet?(0.01)
      reader = Thread.new { input.read }

      assert_equal 100, client.read_response.status
      client.write("abcdef")

      assert_equal "abcdef", reader.value
    end
  end

  def test_an_input_ends_with_its_request
    input = nil
    serve(**UNBUFFERED) { |env| (input = env["rack.input"]) && OK }.raw(LENGTH)

    assert_raises(IOError) { input.read }
  end

  private

  # Sends the pieces one by one. Calls the block with rack.input within the request, and returns the block's result.
  def with_pieces(pieces, &script)
    found = nil
    server = serve(**UNBUFFERED) { |env| (found = script.call(env["rack.input"])) && OK }
    server.connect do |client|
      pieces.each { |piece| client.write(piece) }
      client.read_response
    end
    found
  end

  # The client closes the connection in the middle of the body. The block gets the exception of `read`.
  def with_broken_off(body)
    read = Queue.new
    server = serve(**UNBUFFERED) do |env|
      read << env["rack.input"].read(2)
      env["rack.input"].read
    rescue IOError => e
      yield e
      [200, {}, body]
    end
    server.connect do |client|
      client.write("#{LENGTH}ab")
      read.pop
    end
    server.await_requests(1)
  end
end
