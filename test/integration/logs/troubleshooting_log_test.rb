# frozen_string_literal: true

require "test_helper"
require "support/troubleshooting_page"

# Symptoms while the server runs: its log has the lines that docs/TROUBLESHOOTING.md quotes.
class TroubleshootingLogTest < Support::TestCase
  include Support::TroubleshootingPage

  APP = <<~RUBY
    run(lambda do |env|
      File.write("called", "")
      case env["PATH_INFO"]
      when "/wait" then sleep 0.01 until File.exist?("go")
      when "/report" then sleep
      when "/kill" then Process.kill(:KILL, Process.pid) && sleep
      when "/stream" then return [200, {}, ->(stream) { STREAMS << stream }]
      end
      [200, {}, ["served"]]
    end)
    STREAMS = []
  RUBY

  # The log has the lines before a thread is free.
  def test_too_many_requests_wait
    server = start("--max-queue", "1", "--queue-timeout", "100ms")
    busy(server) do
      client = ask(server)
      eventually("max_queue") { server.get.status == 503 }
      assert_equal 503, client.read_response.status
      %w[max_queue queue_timeout].each { |limit| server.wait_for_output(/ #{limit}: .*\n/) }
    end
    assert_quoted "503: too many requests wait", server.output.text, only: /queue/
  end

  def test_no_room_for_connections
    server = start("--max-connections", "1")
    clients = Array.new(40) { Support::Client.new(server.address).tap { |client| client.write("GET / HTTP/1.1\r\n") } }
    server.wait_for_output(/ no room for .*\n/)
    assert_quoted "503: too many requests wait", server.output.text, only: /no room/
  ensure
    clients&.each(&:close)
  end

  def test_rejected_requests
    server = start("--max-body", "3")
    requests = ["GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nfour"]
    requests.zip([400, 413]) do |request, status|
      Support::Client.open(server.address) do |client|
        client.write(request)
        assert_equal status, client.read_response.status
      end
    end
    server.wait_for_output(/\(413\)\n/)
    assert_quoted "400, 408, 413, 414, 431", server.output.text
  end

  def test_the_health_check_after_term
    server = start("--ready-path", "/-/ready", "--drain-delay", "10")
    server.signal("TERM")
    server.wait_for_output(/ draining: .*\n/)
    assert_equal [503, 200], [server.get("/-/ready").status, server.get("/").status]
    assert_quoted "503: for the health check only", server.output.text
  end

  def test_request_timeout
    server = start("--request-timeout", "200ms")
    assert_equal 504, server.get("/report").status
    server.wait_for_output(/ hangs in all its threads: .*\n/)
    server.wait_for_output(/ request_timeout: GET .*\n/)
    assert_quoted "504: from the server", server.output.text
    assert_quoted "Workers are replaced again and again", server.output.text, only: /hangs/
  end

  # With max_queue, the server accepts connections while all threads are busy.
  def test_a_client_that_is_gone
    server = start("--max-queue", "9", "--check-client-connection")
    busy(server) { ask(server).close }
    server.wait_for_output(/\(499\)\n/)
    assert_quoted "499", server.output.text
  end

  def test_a_worker_that_dies
    server = start
    server.connect do |client|
      client.request("GET", "/kill")
      assert_includes %i[eof reset], client.wait_for_end
    end
    server.wait_for_output(/ killed by SIGKILL.*\n/)
    assert_quoted "Workers are replaced again and again", server.output.text, only: /SIGKILL/
  end

  def test_a_worker_that_reaches_its_limits
    server = start("--max-request-per-child", "1", "--max-worker-memory", "1M")
    server.wait_for_output(/ wants to be replaced: memory .*\n/)
    server.wait_for_output(/ leaves when .*\n/)
    assert_quoted "Memory grows", server.output.text
    eventually("max_request_per_child") { server.get && server.output.text.include?("max requests") }
    assert_quoted "Workers are replaced again and again", server.output.text, only: /wants/
  end

  def test_a_worker_that_is_frozen
    server = start("--worker-timeout", "1")
    stop_process(server.output.wait_for(/ info (\d+) w1 g1 ready/)[1].to_i)
    server.wait_for_output(/ has not moved .*\n/)
    assert_quoted "Workers are replaced again and again", server.output.text, only: /not moved/
  end

  def test_connections_that_outlive_their_worker
    server = start("--hijack-timeout", "100ms")
    server.connect do |client|
      client.request("GET", "/stream")
      client.read_line
      server.signal("HUP")
      server.wait_for_output(/ closes \d+ hijacked .*\n/)
    end
    assert_quoted "WebSockets close at a deploy", server.output.text
  end

  def test_a_stop_that_takes_long
    server = start("--graceful-timeout", "100ms")
    server.connect do |client|
      client.request("GET", "/report")
      wait_for_call
      server.stop
    end
    assert_quoted "The stop takes long, or cuts requests", server.output.text
  end

  private

  def start(*args)
    server = start_bontebok(args: ["-w", "1", *args], rackup: APP, lint: false)
    server.wait_for_output(/ ready in .*\n/)
    server
  end

  # Calls the block while the only thread has a request.
  def busy(server)
    client = ask(server, "/wait")
    wait_for_call
    yield
    temp_file("go")
    assert_equal 200, client.read_response.status
  end

  def wait_for_call
    eventually("a call") { File.exist?(File.join(temp_dir, "called")) }
  end

  def ask(server, path = "/")
    Support::Client.new(server.address).tap { |client| client.request("GET", path) }
  end
end
