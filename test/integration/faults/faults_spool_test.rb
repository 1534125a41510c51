# frozen_string_literal: true

require "test_helper"
require_relative "../support/small_disk"
require_relative "../support/worker_watch"

# There is no room for a request body: the disk is full, spool_max is reached, or the file has reached its size limit.
# The client gets 507, and the application is not called. The worker frees the room of the rejected body.
class FaultsSpoolTest < Support::TestCase
  include SmallDisk
  include WorkerWatch

  APPLICATION = <<~RUBY
    run(lambda do |env|
      $stderr.puts "called" if env["REQUEST_METHOD"] == "POST"
      [200, {}, [env["rack.input"].read.bytesize.to_s]]
    end)
  RUBY
  TOO_MUCH = 6 * 1024 * 1024
  MIB = "x" * (1024 * 1024)

  def test_a_body_that_does_not_fit_on_the_disk_is_rejected
    with_small_disk do |disk|
      start_watched(listen: :tcp, args: ["--spool-threshold", "64K", "--spool-dir", disk], rackup: APPLICATION)
      free = free_bytes(disk)
      [by_length, in_chunks].each do |request|
        assert_refused(request, "No space left")
        assert_equal free, free_bytes(disk)
        assert_unharmed
      end
      assert_served
      eventually { free == free_bytes(disk) } # the response arrives before the worker discards the body
    end
  end

  # One upload pauses while another upload fills the disk. The paused upload keeps its file, and completes when there is
  # room again.
  def test_an_upload_survives_a_disk_that_is_full_for_a_while
    with_small_disk do |disk|
      start_watched(listen: :tcp, args: ["--spool-threshold", "64K", "--spool-dir", disk], rackup: APPLICATION)
      @server.connect do |patient|
        patient.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: #{2 * MIB.bytesize}\r\n\r\n#{MIB}")
        assert_refused(by_length, "No space left")
        patient.write(MIB)
        assert_equal (2 * MIB.bytesize).to_s, patient.read_response.body
      end
      assert_unharmed
    end
  end

  def test_a_body_beyond_spool_max_is_rejected
    start_watched(listen: :tcp, args: ["--spool-threshold", "64K", "--spool-max", "4M"], rackup: APPLICATION)
    [by_length, in_chunks].each do |request|
      assert_refused(request, "spool_max")
      assert_unharmed
    end
    assert_served
  end

  def test_lines_that_are_left_out_of_the_log_are_counted
    start_watched(listen: :tcp, args: ["--spool-max", "4M"], rackup: APPLICATION)
    eventually do
      assert_equal 507, @server.request("POST", "/", { "Content-Length" => TOO_MUCH.to_s }).status
      @server.output.text.match?(/spool_max reached \(507\), and [1-9]\d* more like it$/)
    end
  end

  # If ulimit -f is set, the kernel sends XFSZ to a process that writes past the limit. By default, XFSZ would end the
  # worker.
  def test_a_body_beyond_the_file_size_limit_is_rejected
    start_watched(listen: :tcp, args: %w[--spool-threshold 64K], rlimit_fsize: 4 * MIB.bytesize, rackup: APPLICATION)
    [by_length, in_chunks].each do |request|
      assert_refused(request, "File too large")
      assert_unharmed
    end
    assert_served
  end

  def test_a_single_process_rejects_a_body_beyond_the_file_size_limit
    @server = start_bontebok(listen: :tcp, args: %w[-w 0 --spool-threshold 64K], rlimit_fsize: 4 * MIB.bytesize,
                             rackup: APPLICATION)
    assert_refused(by_length, "File too large")
    assert_served
  end

  private

  def by_length
    ["POST / HTTP/1.1\r\nHost: a\r\nContent-Length: #{TOO_MUCH}\r\n\r\n", *([MIB] * 6)]
  end

  def in_chunks
    chunk = "#{MIB.bytesize.to_s(16)}\r\n#{MIB}\r\n"
    ["POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", *([chunk] * 6), "0\r\n\r\n"]
  end

  # Asserts that the client gets 507, that the log has the reason, and that the application is not called. The server
  # logs at most one such line per second.
  def assert_refused(request, reason)
    seen = @server.output.text.size
    @server.connect do |client|
      write_what_it_takes(client, request)
      response = client.read_response
      assert_equal [507, false], [response.status, response.keep_alive?]
      client.wait_for_end
    end
    @server.wait_for_output(/spool: .*#{reason}/)
    assert_operator @server.output.text[seen..].lines.grep(/spool/).size, :<=, 1
    refute_match(/called/, @server.output.text[seen..])
  end

  # After its response, the server may close the connection before it has read all parts.
  def write_what_it_takes(client, parts)
    parts.each { |part| client.write(part) }
  rescue Support::Client::Reset
    nil
  end

  def assert_served
    assert_equal (3 * MIB.bytesize).to_s, @server.request("POST", "/", {}, MIB * 3).body
  end
end
