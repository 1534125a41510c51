# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/each_body"

# Other threads call the block of a body's `each`, while the serving thread is in `each`.
class EachThreadsTest < Support::LaneCase
  include Support::EachBody

  def test_a_part_of_another_thread_is_sent_while_the_serving_thread_waits
    with_body do |client, body, block|
      assert_nil Thread.new { block.call("a") }.value
      head = client.read_line until head == "\r\n"

      assert_equal "1\r\na\r\n", client.read(6)
      Thread.new { block.call("b") }.join

      assert_equal "1\r\nb\r\n", client.read(6)
      body.ends << ->(own) { own.call("c") }

      assert_equal "1\r\nc\r\n0\r\n\r\n", client.read(11)
      client.request("GET", "/ok")

      assert_equal "ok", client.read_response.body
    end
  end

  def test_a_part_after_the_end_is_an_io_error
    with_body do |client, body, block|
      Thread.new { block.call("a") }.join
      body.ends << nil

      assert_equal "a", client.read_response.body
      assert_equal(IOError, outcome_of { block.call("b") })
      client.request("GET", "/ok")

      assert_equal "ok", client.read_response.body
    end
  end

  # The socket of the client does not take a whole part at once.
  [NO_ROOM, {}].each_with_index do |settings, number|
    define_method(:"test_the_bytes_of_a_part_stay_together_#{number}") do
      with_body(settings: settings) do |client, body, block|
        threads = %w[a b c].map { |letter| waiting_or_done { 3.times { block.call(letter * 300_000) } } }
        body.ends << lambda { |own|
          own.call("d" * 300_000)
          threads.each(&:join)
        }
        text = client.read_response.body

        assert_equal 3_000_000, text.bytesize
        assert(text.scan(/a+|b+|c+|d+/).all? { |run| (run.bytesize % 300_000).zero? })
      end
    end
  end

  # `each` returns while another thread is in the middle of a part.
  def test_the_response_ends_behind_the_part_of_another_thread
    with_body(settings: NO_ROOM) do |client, body, block|
      writer = waiting { block.call("x" * LARGE) }
      body.ends << nil
      late = waiting { outcome_of { block.call("late") } }

      assert_equal LARGE, client.read_response.body.delete("late").bytesize
      assert_nil writer.value
      client.request("GET", "/ok")

      assert_equal "ok", client.read_response.body
      late.join
    end
  end

  def test_another_thread_waits_only_if_the_spool_has_no_room
    with_body do |client, body, block|
      Thread.new { block.call("x" * LARGE) }.join
      body.ends << nil

      assert_equal LARGE, client.read_response.body.bytesize
    end
  end

  # The I/O thread sends what the socket has not taken.
  def test_a_part_arrives_while_each_waits
    with_body do |client, body, block|
      Thread.new { block.call("x" * LARGE) }.join

      assert_equal LARGE, client.read(LARGE).bytesize
      body.ends << nil
    end
  end

  def test_a_child_process_sends_nothing
    with_body do |client, body, block|
      outcome = IO.popen("-") { |pipe| pipe ? pipe.read : $stdout.write(outcome_of { block.call("child") }) }
      Thread.new { block.call("parent") }.join
      body.ends << nil

      assert_equal %w[IOError parent], [outcome, client.read_response.body]
    end
  end

  def test_parts_of_other_threads_survive_compaction
    with_body do |client, body, block|
      3.times do |number|
        move_objects
        Thread.new { block.call("#{number} ") }.join
      end
      body.ends << nil

      assert_equal "0 1 2 ", client.read_response.body
    end
  end

  def test_parts_of_other_threads_survive_gc_stress
    skip "slow" if VALGRIND
    with_body(settings: NO_ROOM) do |client, body, block|
      under_gc_stress do
        writer = waiting { block.call("x" * 1_000_000) }
        body.ends << ->(own) { own.call("y" * 1_000_000) }

        assert_equal 2_000_000, client.read_response.body.bytesize
        writer.join
      end
    end
  end
end
