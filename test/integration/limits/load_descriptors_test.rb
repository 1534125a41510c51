# frozen_string_literal: true

require "json"
require "open3"
require "test_helper"
require_relative "../support/worker_watch"

# There are more clients than the worker can have descriptors. No response is lost, and no thread spins. The worker is
# unharmed after the clients have closed their connections.
class LoadDescriptorsTest < Support::TestCase
  include WorkerWatch

  LIMIT = 64
  CLIENTS = 200
  APPLICATION = "run ->(env) { [200, {}, [env['PATH_INFO']]] }"
  REQUEST = "GET /%d HTTP/1.1\r\nHost: a\r\n%s\r\n"

  def setup
    start_watched(listen: :tcp, rlimit_nofile: [LIMIT, LIMIT], rackup: APPLICATION)
    @clients = []
  end

  def teardown
    @clients.each(&:close)
  end

  # Sends one request for each client. No response is read before all requests are sent.
  def ask(field)
    @clients = Array.new(CLIENTS) { Support::Client.new(@server.address) }
    @clients.each_with_index { |client, number| client.write(format(REQUEST, number, field)) }
  end

  def last_response_to(client)
    response = client.read_response
    client.close
    [response.status, response.body]
  end

  def response_to(client, target)
    client.get(target)
  end

  def assert_all_served
    responses = @clients.map { |client| client.read_response.body }
    assert_equal Array.new(CLIENTS) { |number| "/#{number}" }, responses
  end

  def test_each_request_on_a_connection_of_its_own_is_answered
    ask("Connection: close\r\n")
    assert_all_served
    assert_unharmed
  end

  def test_idle_connections_make_room_for_new_connections
    ask("")
    assert_all_served
    @clients.each(&:close)
    assert_unharmed
  end

  # These connections look idle, but their next requests have arrived.
  def test_kept_connections_with_another_request_are_not_closed
    make_gate
    @server.stop
    start_watched(listen: :tcp, rlimit_nofile: [LIMIT, LIMIT], rackup: GATED_APP)
    @clients = Array.new(LIMIT / 4) { Support::Client.new(@server.address) }
    @clients.each { |client| assert_equal 200, response_to(client, "/").status }
    @clients.first.request("GET", "/gate")
    @server.wait_for_output(/at the gate/)
    @clients += Array.new(CLIENTS) { Support::Client.new(@server.address) }
    @clients.drop(1).each { |client| client.request("GET", "/") }
    open_gate
    assert_equal({ 200 => @clients.size }, @clients.map { |client| client.read_response.status }.tally)
  end

  # If a client sends its next request at once, its connection is not idle. The server ends such a connection with a
  # response that has Connection: close.
  def test_kept_connections_that_are_never_idle_end_after_a_response
    url = "http://#{@server.address}/"
    executable = File.join(ROOT, "exe/bontebok")
    output, = Open3.capture2(RbConfig.ruby, executable, "bench", "--json", "-c", CLIENTS.to_s, "-n", "20000", url)
    result = JSON.parse(output)
    assert_equal [20_000, 20_000], result.values_at("requests", "ok"), output
    assert_unharmed
  end

  # No connection is idle, so the server closes no connection.
  def test_a_new_connection_waits_while_all_others_have_incomplete_requests
    @clients = Array.new(CLIENTS) { Support::Client.new(@server.address) }
    @clients.each { |client| client.write("GET / HTTP/1.1\r\n") }
    new_one = Support::Client.new(@server.address)
    new_one.write(format(REQUEST, 1, ""))
    @server.wait_for_output(/Too many open files/i)
    assert_at_rest
    @clients.each(&:reset)
    assert_equal "/1", new_one.read_response.body
    new_one.close
    assert_unharmed
    assert_operator @server.output.lines.grep(/Too many open files/).size, :<=, 5
  ensure
    @clients = []
  end

  # Request bodies in files need descriptors, too.
  def test_uploads_into_files_are_served_or_rejected
    @server.stop
    start_watched(listen: :tcp, rlimit_nofile: [LIMIT, LIMIT], args: %w[--spool-threshold 1K],
                  rackup: "run ->(env) { [200, {}, [env['rack.input'].read.bytesize.to_s]] }")
    @clients = Array.new(CLIENTS) { Support::Client.new(@server.address) }
    @clients.each { |client| client.request("POST", "/", { "Connection" => "close" }, "x" * 5000) }
    responses = @clients.map { |client| last_response_to(client) }
    assert_empty(responses.reject { |status, body| status == 503 || [status, body] == [200, "5000"] })
    assert_includes responses, [200, "5000"]
    assert_unharmed
  end
end
