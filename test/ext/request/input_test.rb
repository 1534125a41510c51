# frozen_string_literal: true

require "stringio"
require_relative "../support/lane_case"
require_relative "../support/inputs"

# rack.input reads the body of a request like an IO. The body is in memory or in a spool file. When the request has
# ended, rack.input raises IOError.
class InputTest < Support::LaneCase
  include Support::Inputs

  # Sequences of calls. rack.input must return the same as a StringIO of the same bytes.
  SCRIPTS = [
    ->(io) { [io.read, io.read, io.read(nil), io.read(1), io.read(0), io.eof?] },
    ->(io) { [io.read(0), io.read(5), io.pos, io.read(3), io.gets, io.read, io.read(7)] },
    ->(io) { [io.gets, io.gets, io.pos, io.gets, io.gets, io.gets, io.gets, io.eof?] },
    ->(io) { [io.each.to_a, io.gets, io.rewind, io.gets, io.read(2), io.each.to_a.size] },
    ->(io) { [io.read(3), io.rewind, io.read(3), io.size, io.eof?, io.read(1 << 40).size] },
    ->(io) { [io.read(4, buffer = +"long enough already"), buffer, io.read(nil, buffer), buffer] },
    ->(io) { [io.read, buffer = +"left", io.read(4, buffer), buffer, io.read(nil, buffer), buffer] },
    ->(io) { [io.read(16_383).size, io.gets, io.gets, io.read(40_000), io.gets, io.pos] }
  ].freeze

  def test_an_input_reads_like_an_io
    [TEXT, LONG].product(SCRIPTS, [{}, SPOOLED]) do |text, script, options|
      assert_equal script.call(StringIO.new(text)), with_input(text, **options, &script)
    end
  end

  def test_an_input_without_a_body_is_at_its_end
    results = with_input("") do |io|
      [io.read(1), io.read, io.read(0), io.gets, io.rewind, io.each.to_a, io.eof?, io.size]
    end

    assert_equal [nil, "", "", nil, 0, [], true, 0], results
  end

  def test_a_change_of_an_empty_input_does_not_show_in_the_next_request
    server = serve do |env|
      io = env["rack.input"]
      body = [io.closed?, io.read].inspect
      io.close
      io.binmode.set_encoding("UTF-8", nil)
      [200, {}, [body]]
    end

    assert_equal ['[false, ""]'] * 2, Array.new(2) { server.get.body }
  end

  def test_a_chunked_body_is_decoded
    server = serve { |env| [200, {}, [env["rack.input"].read]] }
    response = server.raw(http("Transfer-Encoding: chunked", line: "PUT / HTTP/1.1",
                                                             body: "3\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n"))

    assert_equal "abcde", response.body
  end

  def test_an_input_is_binary_whatever_encoding_is_set
    assert_equal([[Encoding::BINARY] * 4, true, Encoding::BINARY], with_input("\u00e4\n\u00e4".b) do |io|
      io.set_encoding("UTF-8")
      strings = [io.gets, io.read, io.read(0), io.rewind && io.read(2, +"\u00e4")]
      [strings.map(&:encoding), io.binmode?, io.external_encoding]
    end)
  end

  def test_a_read_into_a_copy_of_a_string_does_not_change_the_original
    original = "x" * TEXT.bytesize
    copy = original.dup

    assert_equal TEXT, with_input(TEXT) { |io| io.read(TEXT.bytesize, copy) && copy }
    assert_equal "x" * TEXT.bytesize, original
  end

  def test_a_read_clears_the_cached_code_range_of_its_buffer
    assert with_input("\xff\xff".b) { |io| io.read(2, buffer = +"ok".b.tap(&:ascii_only?)) && !buffer.ascii_only? }
  end

  def test_a_mistake_raises_and_moves_nothing
    with_input(TEXT) do |io|
      assert_raises(ArgumentError) { io.read(-1) }
      assert_raises(TypeError) { io.read("x") }
      assert_raises(TypeError) { io.read(1, 1) }
      assert_raises(FrozenError) { io.read(1, "frozen") }
      assert_raises(FrozenError) { io.read(1, "f") }
      assert_equal TEXT, io.read, "a mistake moves nothing"
    end
  end

  def test_a_closed_input_raises
    [{}, SPOOLED].each do |options|
      with_input(LONG, **options) do |io|
        io.gets
        io.close
        io.close

        assert_predicate io, :closed?
        %i[read gets rewind eof? pos].each { |name| assert_raises(IOError, name) { io.public_send(name) } }
      end
    end
  end

  def test_an_input_ends_with_its_request
    [{}, SPOOLED].each do |options|
      kept = nil
      with_input(LONG, **options) { |io| kept = io.tap(&:gets) }

      %i[read gets rewind eof? pos].each { |name| assert_raises(IOError, name) { kept.public_send(name) } }
      assert_raises(IOError) { kept.each(&:size) }
      assert_nil kept.close
      assert_equal LONG.bytesize, kept.size
    end
  end

  def test_copy_stream_reads_an_input
    [{}, SPOOLED].each do |options|
      assert_equal(LONG, with_input(LONG, **options) { |io| StringIO.new.tap { |out| IO.copy_stream(io, out) }.string })
    end
  end

  # The client sends the body in parts, and the application uses one buffer. So this process needs little other memory.
  def test_reading_in_a_loop_does_not_need_more_memory
    parts = VALGRIND ? 4 : 64
    buffer = String.new(capacity: 16_384)
    grown = nil
    server = serve(settings: { spool_threshold: 1 << 20 }) do |env|
      before = resident
      env["rack.input"].read(16_384, buffer) until env["rack.input"].eof?
      grown = resident - before
      OK
    end
    server.connect do |client|
      client.write(http("Content-Length: #{parts << 20}", line: "POST / HTTP/1.1"))
      parts.times { client.write("x" * (1 << 20)) }
      client.read_response
    end

    assert_operator grown, :<, 8 << 20
  end

  def test_an_application_cannot_make_an_input
    assert_raises(TypeError) { Bontebok::Core::Input.allocate }
    assert_raises(TypeError) { Bontebok::Core::Input.new }
  end

  private

  def resident
    File.read("/proc/self/statm").split[1].to_i * Etc.sysconf(Etc::SC_PAGESIZE)
  end
end
