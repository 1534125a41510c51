# frozen_string_literal: true

require "test_helper"
require_relative "../support/small_disk"
require_relative "../support/worker_watch"

# Clients that request large responses, and read slowly or read nothing.
class FaultsReaderTest < Support::TestCase
  include SmallDisk
  include WorkerWatch

  MIB = 1024 * 1024
  # A little less than 1 MiB in total. The test and the application compute the same bytes.
  PARTS = Array.new(16) { |n| Random.new(n).bytes(65_536 - (n * 997)) }
  # The response to the path /N has all parts N times.
  APPLICATION = <<~RUBY
    body = Struct.new(:times) do
      PARTS = Array.new(16) { |n| Random.new(n).bytes(65_536 - (n * 997)) }
      def each(&block)
        $stderr.puts "begun"
        times.times { PARTS.each(&block) }
        $stderr.puts "whole"
      end

      def close = $stderr.puts("closed")
    end
    run(lambda do |env|
      File.read(env["QUERY_STRING"]) unless env["QUERY_STRING"].empty? # of a FIFO, until somebody writes to it
      times = env["PATH_INFO"].delete("/").to_i
      times.zero? ? [200, {}, ["small"]] : [200, {}, body.new(times)]
    end)
  RUBY
  MEMORY_LIMIT = 4 * MIB
  # Seconds. Long enough to distinguish one timeout from two timeouts on a busy machine.
  WRITE_TIMEOUT = 4
  WRITE_TIME_LIMIT = (1.7 * WRITE_TIMEOUT) + 1
  CROWD = 20

  # Calls start_watched of WorkerWatch, and opens a connection that stays idle.
  def start_watched(...)
    super
    @idle = Support::Client.new(@server.address)
    @idle.get
    @descriptors = descriptors
  end

  def teardown
    @idle&.close
    super
  end

  # Uses the idle connection. A new connection would need the only lane (the only thread that serves requests), and this
  # lane may wait for a client.
  def pause = assert(@idle.quiet?(WATCH_SECONDS))

  def private_bytes
    File.read("/proc/#{@worker}/smaps_rollup").scan(/^Private_\w+:\s+(\d+)/).sum { |(kib)| kib.to_i } * 1024
  end

  # Waits until `count` bodies are closed. Returns the highest private memory of the worker until then, in bytes.
  def memory_until_closed(count = 1)
    most = 0
    eventually("#{count} bodies to be closed", seen: -> { @server.output.text }) do
      most = [most, private_bytes].max
      closed >= count
    end
    most
  end

  def closed = @server.output.text.scan("closed").size

  # The body is larger than spool_max, so the lane waits for the client. The lane aborts the response after
  # write_timeout.
  %i[tcp unix].each do |transport|
    define_method("test_a_client_that_reads_nothing_of_a_gigabyte_is_given_up_over_#{transport}") do
      start_watched(listen: transport, args: ["--write-timeout", WRITE_TIMEOUT.to_s, "--spool-max", "32M"],
                    rackup: APPLICATION)
      before = private_bytes
      @server.connect do |client|
        client.request("GET", "/1024")
        @server.wait_for_output(/begun/)
        begun = Support::Deadline.now
        assert_operator memory_until_closed - before, :<, MEMORY_LIMIT
        assert_includes (WRITE_TIMEOUT / 2)..WRITE_TIME_LIMIT, Support::Deadline.now - begun
        # The client gets a reset (TCP), or an end-of-file before the end of the response (unix socket).
        assert_raises(Support::Client::Closed) { client.read_response }
      end
      refute_match(/whole/, @server.output.text)
      assert_equal 1, closed
      assert_unharmed
    end
  end

  # The second crowd finds room within spool_max only if the files of the first crowd are gone from spool_dir.
  def test_a_crowd_that_reads_nothing_does_not_occupy_the_lane
    start_watched(listen: :tcp, args: ["--write-timeout", WRITE_TIMEOUT.to_s, "--spool-max", "200M",
                                       "--spool-threshold", "64K"], rackup: APPLICATION)
    before = private_bytes
    2.times do |round|
      crowd = Array.new(CROWD) { Support::Client.new(@server.address).tap { |client| client.request("GET", "/8") } }
      assert_operator memory_until_closed(CROWD * (round + 1)) - before, :<, MEMORY_LIMIT + (CROWD * 128 * 1024)
      assert_equal CROWD, spooled.size
      assert_served_at_once
      eventually("the files to go", limit: WRITE_TIME_LIMIT, seen: -> { spooled }) { spooled.empty? }
      crowd.each { |client| assert_raises(Support::Client::Closed) { client.read_response } }
    ensure
      crowd&.each(&:close)
    end
    assert_equal 2 * CROWD, @server.output.text.scan("whole").size
    assert_unharmed
  end

  # A client that reads slowly is served. With a spool_max of 8M, a lane waits for the client. With 1G, no lane waits.
  %w[8M 1G].each do |spool_max|
    define_method("test_a_client_that_reads_slowly_is_served_with_#{spool_max}") do
      start_watched(listen: :tcp, args: ["--write-timeout", "1", "--spool-max", spool_max], rackup: APPLICATION)
      @server.connect do |client|
        client.request("GET", "/64")
        6.times do
          client.read(4 * MIB)
          pause
        end
        client.reset
      end
      @server.wait_for_output(/closed/)
      assert_unharmed
    end
  end

  def test_every_byte_of_a_response_that_waited_in_a_file_arrives
    start_watched(listen: :tcp, rackup: APPLICATION)
    assert_read_after_a_pause(32)
    assert_unharmed
  end

  # The only lane is busy with another request.
  def test_every_byte_arrives_while_the_lane_is_busy
    File.mkfifo(fifo = File.join(temp_dir, "fifo"))
    start_watched(listen: :tcp, rackup: APPLICATION)
    @server.connect do |busy|
      assert_read_after_a_pause(32) do
        busy.request("GET", "/?#{fifo}")
        assert busy.quiet?(WATCH_SECONDS)
      end
      assert busy.quiet?(0)
      File.write(fifo, "")
      assert_equal "small", busy.read_response.body
    end
    assert_unharmed
  end

  # The lane cannot write to a file, so it waits for the client.
  def test_every_byte_arrives_although_the_disk_is_full
    with_small_disk do |disk|
      start_watched(listen: :tcp, args: ["--spool-dir", disk], rackup: APPLICATION)
      free = free_bytes(disk)
      assert_read_after_a_pause(32) { eventually("the disk to fill up") { free_bytes(disk) < MIB } }
      assert_equal free, free_bytes(disk)
      refute_match(/spool/, @server.output.text)
      assert_unharmed
    end
  end

  # A response that fits into spool_threshold needs no file.
  def test_responses_that_nobody_reads_do_not_occupy_the_lane
    start_watched(listen: :unix, args: %w[--write-timeout 30], rackup: <<~RUBY)
      run ->(_env) { [200, {}, ["x" * 900_000]] }
    RUBY
    lazy = Array.new(5) { Support::Client.new(@server.address).tap { |client| client.request("GET", "/") } }
    assert_equal 900_000, @server.get.body.bytesize
    assert_empty spooled
    lazy.each { |client| assert_equal 900_000, client.read_response.body.bytesize }
  ensure
    lazy&.each(&:close)
  end

  private

  def spooled = Support::ProcessTable.descriptors(@worker).values.grep(/\(deleted\)/).grep_v(/memfd:bontebok/)

  def assert_served_at_once
    10.times do
      begun = Support::Deadline.now
      assert_equal "small", @server.get.body
      assert_operator Support::Deadline.now - begun, :<, 1
    end
  end

  def assert_read_after_a_pause(times)
    @server.connect do |client|
      client.request("GET", "/#{times}")
      @server.wait_for_output(/begun/)
      pause
      yield if block_given?
      assert client.read_response.body == PARTS.join * times, "other bytes"
    end
    # The client gets the last byte before the worker closes the file.
    eventually("the files to go", seen: -> { spooled }) { spooled.empty? }
  end
end
