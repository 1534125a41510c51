# frozen_string_literal: true

require "io/wait"
require_relative "../support/lane_case"
require_relative "../support/unbuffered"

# A thread or a fiber waits for the body of its request (unbuffered_bodies).
class UnbufferedWaitingTest < Support::LaneCase
  include Support::Unbuffered

  # In a fiber scheduler, other fibers of the thread can run while a fiber waits for the body.
  class Scheduler
    attr_reader :waits

    def initialize = @waits = []

    def io_wait(io, events, timeout)
      @waits << events
      Thread.new { io.wait_readable(timeout) && events }.value
    end

    def fiber(&block) = Fiber.new(blocking: false, &block).tap(&:resume)

    def block(*) = Thread.pass

    alias unblock block
    alias kernel_sleep block

    def close; end
  end

  def test_a_thread_of_the_application_may_read
    with_body_to_come(LENGTH) do |input, client|
      readers = Array.new(3) { Thread.new { input.read(2) } }
      %w[ab cd ef].each { |bytes| client.write(bytes) }

      assert_equal %w[a b c d e f], readers.flat_map { |reader| reader.value.chars }.sort
    end
  end

  def test_the_request_ends_while_a_thread_of_the_application_waits
    reader = nil
    server = serve(**UNBUFFERED) do |env|
      reader = Thread.new { env["rack.input"].read }
      reader.report_on_exception = false
      Thread.pass until reader.status == "sleep"
      OK
    end
    server.raw(LENGTH)

    assert_raises(IOError) { reader.value }
  end

  def test_an_io_error_that_is_raised_in_a_reader_ends_its_wait
    with_body_to_come(LENGTH) do |input, _client|
      reader = waiting { input.read }
      reader.raise(IOError, "stop")

      assert_equal("stop", assert_raises(IOError) { reader.value }.message)
    end
  end

  def test_a_fiber_waits_in_the_fiber_scheduler
    with_body_to_come(LENGTH) do |input, client|
      scheduler = Scheduler.new
      reader = Thread.new do
        Fiber.set_scheduler(scheduler)
        body = nil
        Fiber.schedule { body = input.read }
        body
      end
      Thread.pass until scheduler.waits.any?
      client.write("abcdef")

      assert_equal "abcdef", reader.value
      assert_equal [IO::READABLE], scheduler.waits.uniq
    end
  end

  # The line ends at the separator that `gets` was called with.
  def test_another_thread_changes_the_separator_of_a_reader_that_waits
    ["|", "|" * 40].each do |separator|
      with_body_to_come(CHUNKED) do |input, client|
        given = separator.dup
        reader = waiting { input.gets(given) }
        given.replace("-" * separator.size)
        client.write("2a\r\na#{separator.ljust(41, '.')}\r\n0\r\n\r\n")

        assert_equal "a#{separator}", reader.value
      end
    end
  end

  # Bytes of the body that the reader does not return stay for the next read.
  def test_another_thread_changes_the_buffer_of_a_reader_that_waits
    with_body_to_come(LENGTH) do |input, client|
      buffer = +""
      reader = waiting { input.read(2, buffer) }
      buffer.replace("....")
      client.write("abc")

      assert_equal ["....", "abc"], [reader.value, input.readpartial(9)]
      reader = waiting { input.read(2, buffer) }
      buffer.freeze
      client.write("def")

      assert_raises(FrozenError) { reader.value }
      assert_equal "def", input.read
    end
  end

  def test_the_garbage_collector_may_run_at_any_time
    with_body_to_come(LENGTH) do |input, client|
      client.write("abc")
      under_gc_stress { input.getc && input.read(1) && input.gets("c") }
      move_objects unless VALGRIND
      client.write("def")

      assert_equal("def", under_gc_stress { input.read })
    end
  end
end
