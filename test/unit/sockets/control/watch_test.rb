# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/control/control_client"
require "bontebok/sockets/control/watch"

# The command `watch` over a connection, without a server.
class WatchTest < Support::TestCase
  def setup
    @path = "#{temp_dir}/control"
    @server = UNIXServer.new(@path)
    @watch = Bontebok::Watch.new(Bontebok::ControlConnection.new(@path))
    @client = Bontebok::ControlClient.new(@server.accept)
  end

  def teardown
    [@watch, @client, @server].each(&:close)
    super
  end

  def test_an_answer_brings_descriptors_by_their_names
    assert_equal({ "version" => 1, "command" => "watch" }, @client.hear)
    assert_equal Process.pid, @watch.pid
    assert_nil @watch.wait(soon)
    refute_predicate @watch, :over?
    File.open(__FILE__) { |file| @client.pass([file, file, @server], descriptors: %w[a a b]) }
    assert_equal %w[a a b], @watch.wait(later)["descriptors"]
    assert_equal({ "a" => 2, "b" => 1 }, @watch.descriptors.transform_values(&:size))
    assert_equal File.read(__FILE__), @watch.descriptors["a"].last.read
    refute_predicate @watch, :over?
    @client.close
    assert_predicate @watch, :over?
  end

  def test_an_answer_may_come_in_parts
    line = Bontebok::ControlMessage.line({ server: { tag: "x" * 100_000 } })
    writer = Thread.new { @client.to_io.write(line) }
    assert_equal 100_000, @watch.wait(later)["server"]["tag"].size
    assert_empty @watch.descriptors
  ensure
    writer&.join
  end

  def test_an_answer_that_is_none
    ["nothing\n", "{\"version\":2}\n", "x" * 1_100_000].each do |text|
      writer = Thread.new { write(text) }
      assert_match(/sends something else/, assert_raises(Bontebok::StartError) { @watch.wait(later) }.message)
      teardown
      writer.join
      File.unlink(@path)
      setup
    end
  end

  def test_a_server_that_ends
    @client.close
    assert_equal "the server has ended", assert_raises(Bontebok::StartError) { @watch.wait(later) }.message
  end

  # A server that is frozen accepts nothing.
  def test_a_full_queue_is_tried_until_the_deadline
    @server.listen(0)
    waiting = connect
    error = assert_raises(Bontebok::StartError) { connect }
    assert_equal "the server at #{@path} does not answer: its queue of commands is full", error.message
    thread = Thread.new { @server.accept.close }
    Bontebok::ControlConnection.new(@path, later).close
  ensure
    thread&.join
    waiting&.close
  end

  private

  def connect = Bontebok::ControlConnection.new(@path, soon)
  def soon = Bontebok::Deadline.new(0.1)
  def later = Bontebok::Deadline.new(20)

  def write(text)
    @client.to_io.write(text)
  rescue SystemCallError, IOError
    nil
  end
end
