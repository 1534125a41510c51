# frozen_string_literal: true

require "test_helper"
require "support/troubleshooting_page"
require_relative "support/symptom_nginx"
require_relative "support/test_case"

# Symptoms behind nginx: nginx's error log and the server's log have the lines that docs/TROUBLESHOOTING.md quotes.
class TroubleshootingTest < Interop::TestCase
  include Support::TroubleshootingPage

  APP = <<~RUBY
    run(lambda do |env|
      case env["PATH_INFO"]
      when "/kill" then Process.kill(:KILL, Process.pid) && sleep
      when "/sleep" then sleep 0.01 until File.exist?("go")
      when "/long" then return [200, { "x-long" => "x" * 9000 }, []]
      end
      [200, {}, ["served"]]
    end)
  RUBY

  def setup
    @entrances = {}
    @socket = File.join(temp_dir, "bontebok.sock")
  end

  def test_nothing_is_at_the_socket
    nginx = start_nginx
    assert_equal 502, status("/")
    UNIXServer.new(@socket).close
    assert_equal 502, status("/")
    assert_quoted "502: nothing is at the socket", nginx.output.text
  end

  def test_the_next_start_replaces_the_file_that_is_left
    UNIXServer.new(@socket).close
    start_nginx
    start_server
    assert_equal 200, status("/")
  end

  # nginx runs as a user who may not write to the socket.
  def test_nginx_may_not_connect
    skip "only root can start nginx as another user" unless Process.euid.zero?

    File.chmod(0o777, temp_dir)
    start_server("--socket-mode", "0600")
    nginx = start_nginx("setpriv", "--reuid", "nobody", "--clear-groups")
    assert_equal 502, status("/")
    assert_quoted "502: nginx may not connect", nginx.output.text
  end

  def test_a_worker_dies
    start_server
    nginx = start_nginx
    assert_equal 502, status("/kill")
    heading = "502: the connection ends without a response"
    assert_quoted heading, nginx.output.text, only: /^upstream/
    @server.wait_for_output(/ killed by SIGKILL/)
    assert_quoted heading, @server.output.text, only: /^warn/
  end

  def test_a_head_that_is_too_long
    start_server
    nginx = start_nginx
    assert_equal 502, status("/long")
    assert_quoted "502: the response has too long headers", nginx.output.text
  end

  def test_nginx_waits_for_too_long
    start_server
    nginx = start_nginx
    assert_equal 504, status("/sleep")
    assert_quoted "504: from nginx", nginx.output.text
    refute_match(/ (warn|error) /, @server.output.text)
  ensure
    temp_file("go")
  end

  # The page's table of nginx's own limits.
  def test_nginx_rejects_requests_itself
    start_server
    nginx = start_nginx
    Support::Client.open(entrance) do |client|
      client.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n")
      assert_equal 413, client.read_response.status
    end
    nginx.wait_for_output(/client intended to send too large body/)
    assert_equal 414, status("/#{'a' * 9000}")
    assert_equal 400, Support::Client.open(entrance) { |client| client.get("/", "Cookie" => "a" * 9000).status }
  end

  private

  def start_server(*args)
    @server = start_bontebok(listen: nil, args: ["-l", "unix:#{@socket}", "-w", "1", *args], rackup: APP, lint: false)
  end

  def start_nginx(*under)
    start_proxy(Interop::SymptomNginx.new(temp_dir, @socket, under: under))
  end

  def status(path) = Support::Client.open(entrance) { |client| client.get(path).status }
  def entrance = @entrances.values.first
end
