# frozen_string_literal: true

require "io/wait"
require_relative "../support/lane_case"
require_relative "../support/each_body"

# Parts of `each` that cannot be sent to their end. No response may look complete without them, and no thread waits for
# ever.
class EachBrokenTest < Support::LaneCase
  include Support::EachBody

  def test_a_killed_thread_leaves_no_response_that_looks_complete
    with_body(settings: NO_ROOM) do |client, body, block, server|
      waiting { block.call("x" * LARGE) }.kill.join

      assert_equal(IOError, outcome_of { block.call("y") })
      body.ends << nil

      assert_raises(Support::Client::Closed) { client.read_response }
      assert_match(/not sent completely/, server.next_report.error.message)
    end
  end

  # The application rescues the exception that another thread has raised in the middle of a part.
  def test_an_interrupted_part_of_the_serving_thread_leaves_no_response_that_looks_complete
    rescued = Queue.new
    long = ->(own) { own.call("x" * LARGE) rescue rescued << true } # rubocop:disable Style/RescueModifier
    with_body(settings: NO_ROOM) do |client, body, _block, server|
      body.ends << long

      assert client.socket.wait_readable(Support::Deadline.new.left)
      eventually { server.threads.first.stop? }
      server.threads.first.raise("stop")
      rescued.pop

      assert_raises(Support::Client::Closed) { client.read_response }
      assert_match(/not sent completely/, server.next_report.error.message)
    end
  end

  # The core takes all of such a part, or nothing of it.
  PART = "x" * 9_000

  # The thread is interrupted before the core has taken its part. Then no thread sends a part, and the client gets the
  # earlier parts.
  def test_earlier_parts_arrive_after_an_interrupt_of_another_thread
    with_body(settings: NO_ROOM) do |client, body, block|
      sent = Queue.new
      waiting { loop { sent << block.call(PART) } }.kill.join

      assert_equal sent.size * PART.bytesize, client.read(sent.size * PART.bytesize).bytesize
      body.ends << nil
    end
  end

  def test_earlier_parts_arrive_after_an_interrupt_of_the_serving_thread
    with_body(settings: NO_ROOM) do |client, body, _block, server|
      sent = Queue.new
      body.ends << lambda { |own|
        loop { sent << own.call(PART) } rescue body.ends.pop # rubocop:disable Style/RescueModifier
      }
      eventually { sent.size.positive? && server.threads.first.stop? }
      server.threads.first.raise("stop")

      assert_equal sent.size * PART.bytesize, client.read(sent.size * PART.bytesize).bytesize
      body.ends << nil
    end
  end

  # The response ends although the client reads nothing.
  { raised: ->(server) { server.threads.first.raise("boom") }, killed: ->(server) { server.threads.first.kill } }
    .each do |name, ending|
    define_method(:"test_a_waiting_thread_ends_if_the_serving_thread_is_#{name}") do
      with_body(settings: NO_ROOM) do |client, _body, block, server|
        writer = waiting { outcome_of { block.call("x" * LARGE) } }
        ending.call(server)

        assert_equal IOError, writer.value
        assert_raises(Support::Client::Closed) { client.read_response }
        server.next_report if name == :raised
      end
    end
  end

  def test_an_io_error_that_is_raised_in_a_waiting_thread_ends_its_wait
    with_body(settings: NO_ROOM) do |client, body, block, server|
      writer = waiting { block.call("x" * LARGE) }
      writer.raise(IOError, "stop")

      assert_equal("stop", assert_raises(IOError) { writer.value }.message)
      body.ends << nil

      assert_raises(Support::Client::Closed) { client.read_response }
      server.next_report
    end
  end

  def test_a_thread_learns_that_the_client_has_left
    with_body(settings: NO_ROOM) do |client, body, block|
      writer = waiting { outcome_of { block.call("x" * LARGE) } }
      client.close

      assert_equal Bontebok::ClientGone, writer.value
      assert_equal(Bontebok::ClientGone, outcome_of { block.call("y") })
      body.ends << nil
    end
  end

  def test_a_client_that_reads_nothing_does_not_delay_the_end_of_the_worker
    with_body(settings: NO_ROOM.merge(keepalive_drain: 100)) do |_client, body, block, server|
      writer = waiting { outcome_of { block.call("x" * LARGE) } }
      server.worker.drain

      assert_equal Bontebok::ClientGone, writer.join(10)&.value
    ensure
      body.ends << nil
    end
  end

  def test_a_client_that_reads_nothing_has_left
    with_body(settings: NO_ROOM.merge(write_timeout: 100)) do |_client, body, block|
      assert_equal(Bontebok::ClientGone, outcome_of { block.call("x" * LARGE) })
      body.ends << nil
    end
  end
end
