# frozen_string_literal: true

require_relative "support"

require "pty"

# Tests the tool's output, on standard output and standard error, and its exit status.
class ReportTest < LoadTest
  TIME = /\d+\.\d+ (?:us|ms|s)/

  def test_the_json_form_has_all_numbers
    server = serve(&:respond_to_all)
    process = bench("--json", "-n", 10, server.url)
    assert_equal 1, process.output.lines(:stdout).size
    result = JSON.parse(process.output.text(:stdout))
    assert_equal %w[requests ok errors statuses requests_per_second latency_us resent], result.keys
    assert_equal %w[refused reset short timeout status local], result["errors"].keys
    assert_equal %w[mean p50 p90 p99 p999 max], result["latency_us"].keys
    percentiles = result["latency_us"].values.drop(1)
    assert_equal percentiles, percentiles.sort
    assert_includes 0..percentiles.last, result["latency_us"]["mean"]
    assert_operator result["latency_us"]["p50"], :>, 0
  end

  def test_the_table_has_a_row_for_each_url
    tcp = serve(:tcp, &:respond_to_all)
    unix = serve(&:respond_to_all)
    process = bench("--table", "-n", 10, tcp.url, unix.url)
    head, *rows = process.output.lines(:stdout)
    assert_equal %w[URL req/s CPU us/req p50 p99 p999 errors], head.split
    number = "\\d+\\.\\d+"
    [tcp, unix].zip(rows) { |server, row| assert_match(/^#{server.url}(?: +#{number}){2}(?: +#{TIME}){3}  0$/, row) }
    assert_equal([10, 10], [tcp, unix].map { |server| server.requests.size })
    assert_equal 0, process.status.exitstatus
  end

  def test_a_failure_in_one_row_fails_the_table
    server = serve(&:respond_to_all)
    process = bench("--table", "-n", 3, refusing_url, server.url)
    assert_match(/ +- +- +-  refused 3 \(Connection refused\)$/, process.output.lines[1])
    assert_match(/  0$/, process.output.lines[2])
    assert_equal 1, process.status.exitstatus
  end

  def test_a_name_that_does_not_resolve_fails_only_its_row
    server = serve(&:respond_to_all)
    process = bench("--table", "-n", 3, "http://host.invalid/", server.url)
    assert_match(%r{\Ahttp://host.invalid/(?: +-){5}  \S.+\z}, process.output.lines(:stdout)[1])
    assert_match(/  0$/, process.output.lines(:stdout)[2])
    assert_equal ["", 1], [process.output.text(:stderr), process.status.exitstatus]
  end

  # The body comes from a pipe. A pipe can be read only once.
  def test_each_row_sends_the_body
    servers = [serve(&:respond_to_all), serve(&:respond_to_all)]
    File.mkfifo(fifo = File.join(temp_dir, "body"))
    writer = Thread.new { File.write(fifo, "content") }
    assert_equal 0, bench("--table", "-n", 1, "--body", fifo, *servers.map(&:url)).status.exitstatus
    assert_equal(%w[content content], servers.map { |server| server.requests.last[/\r\n\r\n(.*)/, 1] })
  ensure
    writer&.kill
  end

  def test_a_signal_prints_the_results_so_far
    %w[INT TERM].each do |signal|
      held = Queue.new
      server = serve do |connection|
        3.times { connection.read_request && connection.respond } # the fourth gets no response
        connection.read_request
        held << true
        connection.socket.read
      end
      process = start_process(LoadTest::PROGRAM, "-n", "1000", "-c", "1", server.url)
      held.pop
      process.signal(signal)
      assert_equal 0, process.wait.exitstatus
      process.output.wait_for_end
      assert_match(/^  requests +3$/, process.output.text)
      assert_match(/^  interrupted, 1 in flight are not counted$/, process.output.text)
    end
  end

  def test_a_signal_before_the_first_response_is_a_failure
    process, = interrupt("-n", "2", "-c", "1")
    assert_match(/^  requests +0$/, process.output.text)
    assert_equal 1, process.wait.exitstatus
  end

  # The signal kills the tool. The tool has sent no request, so it has nothing to print.
  def test_a_signal_kills_the_tool_while_it_reads_the_body
    File.mkfifo(fifo = File.join(temp_dir, "body"))
    process = start_process(LoadTest::PROGRAM, "-n", "1", "--body", fifo, refusing_url)
    File.open(fifo, "w") do # waits until the tool has opened the pipe
      process.signal("TERM")
      assert_equal Signal.list["TERM"], process.wait.termsig
    end
  end

  def test_a_signal_ends_the_table
    process, server = interrupt("--table", "-n", "2", "-c", "1", another: true)
    assert_equal 2, process.output.lines.size
    assert_match(/  interrupted$/, process.output.lines.last)
    assert_equal 1, server.requests.size
    assert_equal 1, process.wait.exitstatus
  end

  def test_progress_goes_to_a_terminal
    server = serve(&:respond_to_all)
    reader, writer = open_terminal
    output, output_writer = IO.pipe
    pid = Process.spawn(LoadTest::PROGRAM, "--json", "-d", "1.2", "--rate", "100", server.url,
                        err: writer, out: output_writer)
    [writer, output_writer].each(&:close)
    result = JSON.parse(output.read)
    assert_match(/\r\d s  \d+ ok  \d+ per second  0 failed/, reader.readpartial(10_000))
    assert_operator result["ok"], :>, 0
  ensure
    Process.wait(pid) if pid
    [reader, output].compact.each(&:close)
  end

  def test_the_message_about_a_long_url_is_whole
    url = "unix:/#{'x' * 300}"
    assert_equal "bontebok bench: #{url} has a socket path of more than 107 bytes",
                 bench(url).output.lines(:stderr).first.chomp
  end

  def test_wrong_options_exit_with_two
    [["--nonsense", "http://127.0.0.1/"], [], ["-n", "x", "http://127.0.0.1/"], ["ftp://127.0.0.1/"]].each do |wrong|
      process = bench(*wrong)
      assert_equal 2, process.status.exitstatus, wrong
      assert_equal "", process.output.text(:stdout)
      assert_equal 2, process.output.lines(:stderr).size
      assert_match(/\Abontebok bench: .+\nbontebok bench: --help lists the options\n\z/, process.output.text(:stderr))
    end
  end

  def test_help_is_printed
    process = bench("--help")
    assert_equal 0, process.status.exitstatus
    assert_match(/\AUsage: bontebok bench /, process.output.text(:stdout))
  end

  def test_a_run_that_cannot_begin_exits_with_one
    [["http://host.invalid/"], ["--body", "#{temp_dir}/none", "http://127.0.0.1/"]].each do |arguments|
      process = bench(*arguments)
      assert_equal 1, process.status.exitstatus
      assert_equal "", process.output.text(:stdout)
      assert_match(/\Abontebok bench: .+: .+\n\z/, process.output.text(:stderr))
    end
  end

  private

  # Interrupts the tool when the server has read the first request. Returns the tool's process and the server.
  def interrupt(*options, another: false)
    held = Queue.new
    server = serve { |connection| connection.read_request && (held << true) && connection.socket.read }
    process = start_process(LoadTest::PROGRAM, *options, *[server.url] * (another ? 2 : 1))
    held.pop
    process.signal("INT")
    process.wait
    process.output.wait_for_end
    [process, server]
  end

  # A container may have no terminals.
  def open_terminal
    PTY.open
  rescue SystemCallError, RuntimeError => e
    skip "needs a pseudo terminal: #{e.message}"
  end
end
