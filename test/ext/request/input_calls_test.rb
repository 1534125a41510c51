# frozen_string_literal: true

require "csv"
require "English"
require "stringio"
require "zlib"
require_relative "../support/lane_case"
require_relative "../support/inputs"

# rack.input has the reading methods of StringIO. Each test makes the same calls on rack.input and on a StringIO of the
# same binary bytes. Results, exceptions and positions must be equal.
class InputCallsTest < Support::LaneCase
  include Support::Inputs

  PARAGRAPHS = "\n\none\ntwo\n\n\n\nthree\r\n\r\nfour\n\n".b.freeze
  BINARY = Array.new(256, &:chr).join.b.freeze
  # A body in a spool file is read in windows of 16 KiB. The separators of this body lie across the borders of the
  # windows.
  ACROSS = "#{"x" * 16_383}--b--#{"y" * 16_377}--b--\r\n#{"z" * 40_000}\naab aaab".b.freeze
  BODIES = (VALGRIND ? [TEXT, ACROSS] : [TEXT, LONG, PARAGRAPHS, BINARY, ACROSS]).freeze

  # Arguments of the methods that read lines.
  LINES = [
    [], [nil], ["\n"], ["--b--"], ["s"], ["aab"], ["-"], [5], [0], [-1], [nil, 7], [nil, 20_000], ["\n", 3],
    ["--b--", 16_385], ["--b--", 16_390], ["\n", nil], [nil, nil], [{ chomp: true }], ["\n", { chomp: true }],
    [4, { chomp: true }], ["\n", 4, { chomp: true }],
    [{ chomp: false }]
  ].freeze
  # For these arguments, the result depends on the release of StringIO. Therefore the test compares rack.input with an
  # IO.
  AS_IO = [[""], ["", { chomp: true }], ["\r\n", { chomp: true }], ["--b--", { chomp: true }]].freeze
  # Wrong arguments for gets, readline, readlines and each_line.
  FAULTS = [[1, 2], ["a", "b"], [:a], [Object], ["a", 1, 2], [{ chop: true }], [1 << 80]].freeze

  SCRIPTS = [
    ->(io) { [io.getc, io.getbyte, io.pos, io.readchar, io.readbyte, io.lineno] },
    ->(io) { [io.each_byte.first(20), io.pos, io.each_char.first(20), io.pos] },
    ->(io) { [io.each_byte.sum, io.getbyte, io.getc, io.eof?] },
    ->(io) { [io.readpartial(3), io.readpartial(0), io.readpartial(1 << 30).size, io.readpartial(0), io.pos] },
    ->(io) { [io.readpartial(4, buffer = +"what was there"), buffer, io.sysread(2), io.read_nonblock(2)] },
    ->(io) { [io.read && io.read_nonblock(2, exception: false), io.pos] },
    ->(io) { [io.seek(3), io.pos, io.gets, io.seek(-2, IO::SEEK_CUR), io.read(4), io.seek(-3, IO::SEEK_END), io.read] },
    ->(io) { [io.seek(1 << 20), io.pos, io.eof?, io.read(1), io.read, io.gets, io.getc, io.read(0), io.readlines] },
    ->(io) { [io.pos = 2, io.pos, io.tell, io.read(2), io.rewind, io.pos, io.lineno] },
    ->(io) { [io.gets, io.lineno, io.gets, io.lineno, io.lineno = 7, io.gets, io.lineno, io.rewind, io.lineno] },
    ->(io) { [io.gets && io.each_line.to_a.size, io.lineno, io.readlines, io.eof?, io.lineno] },
    ->(io) { [io.each(nil, 5).to_a, io.eof?, io.rewind, io.each("\n", chomp: true).to_a, io.each_line(9).to_a] },
    ->(io) { [io.gets && $LAST_READ_LINE, io.gets && $LAST_READ_LINE, io.read && io.gets, $LAST_READ_LINE] },
    ->(io) { [io.external_encoding, io.internal_encoding, io.tty?, io.isatty, io.sync, io.fileno, io.size, io.length] },
    ->(io) { [io.each_line.class, io.each_byte.class, io.each_char.class, io.first, io.map(&:size).size] },
    ->(io) { [io.each_line.equal?(io), io.each_line { nil }.equal?(io), io.each_byte { nil }.equal?(io)] }
  ].freeze

  # The scripts that would move the position of an empty input.
  MOVES = ->(script) { SCRIPTS.values_at(6, 7, 8, 9).include?(script) }

  MISTAKES = [
    ->(io) { io.read && io.readpartial(1) }, ->(io) { io.read && io.readline }, ->(io) { io.read && io.readchar },
    ->(io) { io.read && io.readbyte }, ->(io) { io.read && io.sysread(1) }, ->(io) { io.read && io.read_nonblock(1) },
    ->(io) { io.seek(-1) }, ->(io) { io.seek(0, 9) }, ->(io) { io.seek(-1 << 40, IO::SEEK_END) },
    ->(io) { io.pos = -1 }, ->(io) { io.seek("1") }, ->(io) { io.readpartial(-1) }, ->(io) { io.readpartial("x") },
    ->(io) { io.each_line(0) { nil } },
    ->(io) { io.readlines(0) }, ->(io) { io.readline(nil, 1, 2) }, ->(io) { io.lineno = "x" }
  ].freeze

  def test_lines_are_read_as_with_stringio
    %i[gets readline].each do |name|
      assert_like_stringio(LINES) { |io, arguments| Array.new(8) { [call(io, name, arguments), io.pos, io.lineno] } }
    end
    %i[each_line each readlines].each do |name|
      assert_like_stringio(LINES) { |io, arguments| [call(io, name, arguments).to_a, io.pos, io.lineno] }
    end
  end

  def test_wrong_arguments_for_lines_fail_as_with_stringio
    %i[gets readline readlines each_line].each do |name|
      assert_like_stringio(FAULTS, [TEXT]) { |io, arguments| [call(io, name, arguments) { flunk }, io.pos] }
    end
  end

  def test_other_calls_do_the_same_as_with_stringio
    assert_like_stringio(SCRIPTS) { |io, script| script.call(io) }
  end

  def test_mistakes_fail_as_with_stringio
    assert_like_stringio(MISTAKES, [TEXT, LONG]) { |io, script| [outcome { script.call(io) }, io.pos] }
  end

  def test_lines_are_read_as_with_an_io_where_releases_of_stringio_differ
    path = temp_file("body", "")
    BODIES.product([{}, SPOOLED]) do |body, options|
      File.binwrite(path, body)
      AS_IO.each do |arguments|
        expected = File.open(path, "rb") { |io| Array.new(8) { [call(io, :gets, arguments), io.pos, io.lineno] } }
        found = with_input(body, **options) { |io| Array.new(8) { [call(io, :gets, arguments), io.pos, io.lineno] } }

        assert_equal expected, found, arguments.inspect
      end
    end
  end

  # All requests without a body share one empty input, so no call may change the input.
  def test_no_call_changes_an_empty_input
    assert_like_stringio(SCRIPTS.grep_v(MOVES), ["".b]) { |io, script| script.call(io) }
    with_input("") do |io|
      io.seek(7)
      io.lineno = 3
      io.pos = 5

      assert_equal [0, 0, true], [io.pos, io.lineno, io.eof?]
    end
  end

  def test_an_input_raises_if_it_is_closed_or_its_request_is_over
    calls = { gets: [], readline: [], readlines: [], each_byte: [], getc: [], getbyte: [], readpartial: [1],
              seek: [0], "pos=": [0] }
    [{}, SPOOLED].each do |options|
      kept = with_input(LONG, **options) { |io| io.tap(&:gets) }
      with_input(LONG, **options) { |io| assert_over(calls, io.tap(&:close)) }
      assert_over(calls, kept)
    end
  end

  def test_other_libraries_can_read_an_input
    [{}, SPOOLED].each do |options|
      rows = Array.new(5000) { |n| [n.to_s, "a b"] }
      assert_equal(rows, with_input(rows.map(&:to_csv).join, **options) { |io| CSV.new(io).to_a })
      assert_equal(LONG, with_input(Zlib.gzip(LONG), **options) { |io| Zlib::GzipReader.new(io).read })
      assert_equal(LONG, with_input(LONG, **options) { |io| StringIO.new.tap { |to| IO.copy_stream(io, to) }.string })
    end
  end

  private

  # Asserts that the block returns the same for rack.input as for a StringIO, for each body and each case. Tests each
  # body in memory and in a spool file.
  def assert_like_stringio(cases, bodies = BODIES)
    bodies.product([{}, SPOOLED]) do |body, options|
      expected = cases.map { |one| outcome { yield StringIO.new(body), one } }
      found = with_input(body, **options) do |io|
        cases.map { |one| io.rewind && outcome { yield io, one } }
      end
      cases.zip(expected, found) { |one, ours, theirs| assert_equal(ours, theirs, "#{one.inspect} of #{body[0, 20]}") }
    end
  end

  def assert_over(calls, input)
    calls.each do |name, arguments|
      assert_raises(IOError, name) { input.public_send(name, *arguments) { flunk("#{name} yields") } }
    end
  end

  def call(io, name, arguments, &block)
    keywords = arguments.last.is_a?(Hash) ? arguments.last : {}
    outcome { io.public_send(name, *arguments.grep_v(Hash), **keywords, &block) }
  end

  # Returns the block's result, or the class of its exception.
  def outcome
    yield
  rescue StandardError => e
    e.class
  end
end
