# frozen_string_literal: true

require "test_helper"
require "json"
require "bontebok/log/log"

# Tests the server's log in JSON format.
class JsonFormatTest < Minitest::Test
  def setup
    @reader, @writer = IO.pipe
    @log = Bontebok::Log.new(@writer, format: "json")
  end

  def teardown
    [@reader, @writer].each(&:close)
  end

  def test_an_entry_has_time_level_process_worker_generation_and_message
    @log.info("hello")
    entry = read_entry
    assert_match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/, entry["time"])
    assert_equal ["info", Process.pid, nil, nil, "hello"],
                 entry.values_at(*%w[level pid worker generation message])
  end

  def test_an_entry_has_the_numbers_of_its_process
    @log.generation = 3
    @log.worker = 2
    @log.warn("hello")
    assert_equal ["warn", 2, 3], read_entry.values_at("level", "worker", "generation")
  end

  def test_an_exception_is_an_object_of_its_own
    @log.error("GET /x", fault("outer\nof two", cause: fault("inner")))
    entry = read_entry
    assert_equal "GET /x", entry["message"]
    assert_equal({ "class" => "RuntimeError", "message" => "outer\nof two", "backtrace" => ["app.rb:1", "app.rb:2"],
                   "causes" => ["inner (RuntimeError), app.rb:1"] }, entry["exception"])
  end

  def test_an_exception_that_cannot_be_described_is_still_logged
    @log.error("GET /x", Class.new(StandardError) { define_method(:backtrace) { exit } }.new)
    assert_equal [nil, "an exception that cannot be described (SystemExit)", []],
                 read_entry["exception"].values_at("class", "message", "backtrace")
  end

  def test_any_text_becomes_one_line_of_ascii
    text = "\"\\\n/\u00e4\u20ac\u{1f60a}\u2028"
    @log.info(text)
    line = @reader.readpartial(65_536)
    assert_predicate line, :ascii_only?
    assert_equal 1, line.lines.size
    assert_equal text.sub("\u2028", '\xe2\x80\xa8'), JSON.parse(line)["message"]
  end

  # A pipe accepts 4096 bytes in one piece, so the line does not mix with lines of other processes.
  def test_a_line_has_at_most_4095_bytes
    [["x" * 10_000, fault("\u{1f60a}" * 10_000)], ["\"" * 4096, nil], ["x", fault("y", Array.new(20) { "z" * 4096 })]]
      .each do |message, exception|
      @log.error(message, exception)
      line = @reader.readpartial(65_536)
      assert_operator line.bytesize, :<=, 4095
      assert_operator line.bytesize, :>, 1000
      assert_equal message[0, 100][0, JSON.parse(line)["message"].size], JSON.parse(line)["message"][0, 100]
    end
  end

  def test_the_shorter_texts_of_a_long_entry_stay_whole
    @log.error("GET /x", fault("m" * 5000))
    assert_equal ["RuntimeError", ["app.rb:1", "app.rb:2"]], read_entry["exception"].values_at("class", "backtrace")
  end

  def test_an_application_that_changes_the_json_library_does_not_change_the_log
    JSON.stub(:generate, "nonsense") { @log.info("hello") }
    assert_equal "hello", read_entry["message"]
  end

  private

  def read_entry
    JSON.parse(@reader.readpartial(65_536))
  end

  def fault(message, backtrace = ["app.rb:1", "app.rb:2"], cause: nil)
    raise RuntimeError, message, backtrace, cause: cause
  rescue RuntimeError => e
    e
  end
end
