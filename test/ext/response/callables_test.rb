# frozen_string_literal: true

require_relative "../support/lane_case"

# What the application is called for after a response (rack.response_finished, rack.after_reply), on each path of a
# response, and what it may call before the response (rack.early_hints).
class CallablesTest < Support::LaneCase
  # A path of a response: the triplet, and the exception that response_finished gets.
  PATHS = {
    "/array" => [-> { [200, {}, ["ok"]] }],
    "/each" => [-> { [200, {}, %w[a b].each] }],
    "/call" => [-> { [200, {}, ->(stream) { (stream << "x").close }] }],
    "/304" => [-> { [304, {}, []] }],
    "/raise" => [-> { raise "from the application" }, RuntimeError],
    "/status" => [-> { [7, {}, []] }, Bontebok::Core::InvalidReply],
    "/late" => [-> { [200, {}, Enumerator.new { |parts| (parts << "x") && raise("late") }] }, RuntimeError]
  }.freeze

  PATHS.each do |path, (response, error)|
    define_method(:"test_each_callable_is_called_once_#{path.delete("/")}") do
      calls = Queue.new
      server = serve { |env| env["PATH_INFO"] == path ? note_calls(env, calls) && response.call : OK }
      request(server, path)
      called = Array.new(4) { Timeout.timeout(10) { calls.pop } }
      server.next_report if error

      assert_equal %i[after after second first], called.map(&:first)
      errors = called.last(2).map { |_, *arguments| arguments[3]&.class }

      assert_equal [error, error], errors
      assert_equal path, called.last[1]["PATH_INFO"]
      2.times { server.get("/next") } # other requests of the thread do not call them again

      assert_empty calls
    end
  end

  # An application keeps the env of a hijacked connection.
  def test_the_env_of_a_hijacked_connection_has_arrays_of_its_own
    calls = Queue.new
    kept = nil
    server = serve do |env|
      next (kept = env) && env["rack.hijack"].call.close unless kept

      kept["rack.after_reply"] << -> { calls << :after }
      kept["rack.response_finished"] << ->(*) { calls << :finished }
      OK
    end
    server.connect { |client| client.request("GET", "/") || client.wait_for_end }
    2.times { server.get }
    server.reports

    assert_empty calls
  end

  def test_head
    calls = Queue.new
    server = serve { |env| note_calls(env, calls) && OK }
    server.request("HEAD", "/")

    assert_equal(%i[after after second first], Array.new(4) { calls.pop.first })
  end

  def test_the_client_has_gone
    calls = Queue.new
    endless = -> { Enumerator.new { |parts| loop { parts << ("x" * 65_536) } } }
    server = serve { |env| note_calls(env, calls) && [200, {}, endless.call] }
    server.connect { |client| client.request("GET", "/") || client.read(1) }
    called = Array.new(4) { Timeout.timeout(10) { calls.pop } }

    assert_kind_of Bontebok::ClientGone, called.last[4]
  end

  def test_a_callable_that_raises_is_logged
    calls = Queue.new
    server = serve do |env|
      env["rack.response_finished"] << ->(*) { calls << :last } << ->(*) { raise "broken" }
      OK
    end
    server.get

    assert_equal "broken", server.next_report.error.message
    assert_equal :last, calls.pop
  end

  # The thread must serve its next request, whatever a callable does.
  def test_a_frozen_env_and_a_killed_thread
    callables = { "/kill" => -> { Thread.current.kill }, "/frozen" => -> {} }
    server = serve do |env|
      callables.fetch(env["PATH_INFO"], nil)&.then { |callable| env["rack.after_reply"] << callable }
      env.freeze if env["PATH_INFO"] == "/frozen"
      OK
    end
    server.get("/frozen")

    assert_equal "ok", server.get.body
    server.get("/kill")
    server.threads.first.join(10)
    server.threads[0] = Thread.new { server.lanes.first.serve }

    assert_equal "ok", server.get.body
  end

  def test_callables_delay_no_other_connection
    go_on = Queue.new
    server = serve(count: 2) do |env|
      env["rack.after_reply"] << -> { go_on.pop } if env["PATH_INFO"] == "/slow"
      OK
    end
    server.connect do |client|
      client.get("/")
      server.connect do |other|
        other.get("/slow")

        assert_equal "ok", client.get("/").body
        go_on << true
      end
    end
  end

  def test_early_hints
    server = serve do |env|
      env["rack.early_hints"].call("link" => "</a>; rel=preload\n</b>; rel=preload")
      env["rack.early_hints"].call("link" => ["</c>; rel=preload"])
      OK
    end
    server.connect do |client|
      client.request("GET", "/")
      heads = Array.new(3) { head_of(client) }

      assert_equal ["HTTP/1.1 103 Early Hints", "link: </a>; rel=preload", "link: </b>; rel=preload"], heads[0]
      assert_equal ["HTTP/1.1 103 Early Hints", "link: </c>; rel=preload"], heads[1]
      assert_equal "HTTP/1.1 200 OK", heads[2].first
      assert_equal "ok", client.read(2)
    end
    server.connect do |client| # HTTP/1.0 knows no interim response
      client.write("GET / HTTP/1.0\r\n\r\n")

      assert_equal 200, client.read_response.status
    end
  end

  # The head of the response is made, but not sent, when the body is asked for its path and for its first part.
  def test_early_hints_of_a_body_are_ignored
    server = serve do |env|
      body = Object.new
      %i[to_path each].each do |name|
        body.define_singleton_method(name) do |&block|
          env["rack.early_hints"].call("link" => "</a>; rel=preload")
          block&.call("part")
          nil
        end
      end
      [200, { "x-own" => "1" }, body]
    end
    response = server.get

    assert_equal [200, "1", "part"], [response.status, response["X-Own"], response.body]
  end

  private

  def note_calls(env, calls)
    env["rack.response_finished"] << ->(*all) { calls << [:first, *all] } << ->(*all) { calls << [:second, *all] }
    2.times { env["rack.after_reply"] << -> { calls << [:after] } }
  end

  # The response may be incomplete.
  def request(server, path)
    server.get(path)
  rescue Support::Client::Closed
    nil
  end

  def head_of(client)
    lines = []
    until (line = client.read_line) == "\r\n"
      lines << line.chomp
    end
    lines
  end
end
