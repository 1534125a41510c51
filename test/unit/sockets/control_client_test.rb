# frozen_string_literal: true

require "test_helper"
require "bontebok/config/address"
require "bontebok/sockets/control/control_socket"

# Tests clients of the control socket that close the connection or a half of it.
class ControlClientTest < Support::TestCase
  REQUEST = "{\"version\":1,\"command\":\"deploy\",\"wait\":true}\n"

  def setup
    path = File.join(temp_dir, "control")
    @control = Bontebok::ControlSocket.new(path)
    @other = UNIXSocket.new(path)
  end

  def teardown
    @control.close
    @other.close
  end

  # As `nc -N` does.
  def test_a_client_that_sends_nothing_more_gets_the_result
    @other.write(REQUEST)
    @other.shutdown(:WR)
    client = take
    assert_nil take
    assert_equal 1, @control.sources.size # a source that is always readable would keep the process busy
    client.finish(0, "done")
    assert_equal "{\"version\":1,\"status\":0,\"text\":\"done\"}\n", @other.read
  end

  # A path in the status can have any bytes.
  def test_a_result_may_have_any_bytes_in_its_parts
    @other.write(REQUEST)
    take.finish(0, server: { listeners: ["unix:/\xE9"], processes: [{ pid: 1 }] })
    assert_equal({ "listeners" => ["unix:/\uFFFD"], "processes" => [{ "pid" => 1 }] },
                 Bontebok::ControlMessage.parse(@other.read)["server"])
  end

  def test_a_client_that_leaves_is_forgotten
    @other.write(REQUEST)
    client = take
    @other.close
    assert_nil take
    assert_predicate client, :closed?
  end

  def test_a_client_that_sends_nothing_more_and_then_leaves_is_forgotten
    @other.write(REQUEST)
    @other.shutdown(:WR)
    client = take
    assert_nil take
    @other.close
    assert_nil take
    assert_predicate client, :closed?
  end

  def test_a_client_without_a_request_is_forgotten
    @other.write(REQUEST.chomp)
    assert_nil take
    @other.shutdown(:WR)
    assert_nil take
    assert_nil @other.read(1)
  end

  private

  # Returns the client of a request, or nil.
  def take
    taken = nil
    @control.take { |_, client| taken = client }
    taken
  end
end
