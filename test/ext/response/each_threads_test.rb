# frozen_string_literal: true

require "io/wait"
require_relative "../support/lane_case"

# Other threads call the block of a body's `each`, while the serving thread is in `each`.
class EachThreadsTest < Support::LaneCase
  # A body whose parts come from any thread: `each` hands its block out, and returns when it is told to.
  class Body
    attr_reader :blocks, :ends

    def initialize
      @blocks = Queue.new
      @ends = Queue.new
    end

    def each(&block)
      @blocks << block
      order = @ends.pop
      order.call(block) if order.respond_to?(:call)
    end
  end

  LARGE = 20_000_000
  # Neither memory nor the spool has room, so a thread waits for its client.
  NO_ROOM = { response_buffer: 10_000, spool_max: 1 }.freeze

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
      assert_equal IOError, outcome_of { block.call("b") }
      client.request("GET", "/ok")

      assert_equal "ok", client.read_response.body
    end
  end

  # The socket of the client does not take a whole part at once.
  [NO_ROOM, {}].each_with_index do |settings, number|
    define_method(:"test_the_bytes_of_a_part_stay_together_#{number}") do
      with_body(settings: settings) do |client, body, block|
        threads = %w[a b c].map { |letter| waiting_or_done { 3.times { block.call(letter * 1_000_000) } } }
        body.ends << lambda { |own|
          own.call("d" * 1_000_000)
          threads.each(&:join)
        }
        text = client.read_response.body

        assert_equal 10_000_000, text.bytesize
        assert(text.scan(/a+|b+|c+|d+/).all? { |run| (run.bytesize % 1_000_000).zero? })
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

  def test_a_killed_thread_leaves_no_response_that_looks_complete
    with_body(settings: NO_ROOM) do |client, body, block, server|
      waiting { block.call("x" * LARGE) }.kill.join

      assert_equal IOError, outcome_of { block.call("y") }
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

  def test_a_thread_learns_that_the_client_has_left
    with_body(settings: NO_ROOM) do |client, body, block|
      writer = waiting { outcome_of { block.call("x" * LARGE) } }
      client.close

      assert_equal Bontebok::ClientGone, writer.value
      assert_equal Bontebok::ClientGone, outcome_of { block.call("y") }
      body.ends << nil
    end
  end

  def test_a_client_that_reads_nothing_has_left
    with_body(settings: NO_ROOM.merge(write_timeout: 100)) do |_client, body, block|
      assert_equal(Bontebok::ClientGone, outcome_of { block.call("x" * LARGE) })
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

  private

  # Yields a client, the body of its response, the block of the body's `each`, and the server.
  def with_body(**options)
    body = Body.new
    server = serve(**options) { |env| env["PATH_INFO"] == "/ok" ? OK : [200, {}, body] }
    server.connect do |client|
      client.request("GET", "/")
      yield client, body, body.blocks.pop, server
    end
  end

  # Returns a thread that has ended, or that waits in the block.
  def waiting_or_done(&)
    thread = Thread.new(&)
    eventually("the wait of a thread") { thread.stop? }
    thread
  end

  # Returns the value of the block, or the class of its exception.
  def outcome_of
    yield
  rescue IOError => e
    e.class
  end
end
