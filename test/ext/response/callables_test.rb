# frozen_string_literal: true

require_relative "../support/lane_case"

# What the application is called for after a response (rack.response_finished, rack.after_reply), on each path of a
# response.
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
      called = Array.new(4) { Timeout.timeout(60) { calls.pop } }
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
    called = Array.new(4) { Timeout.timeout(60) { calls.pop } }

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
    server.threads.first.join(60)
    server.threads[0] = Thread.new { server.lanes.first.serve }

    assert_equal "ok", server.get.body
  end

  def test_a_callable_that_ends_its_thread_keeps_no_other_from_being_called
    called = Queue.new
    server = serve do |env|
      env["rack.after_reply"].push(-> { Thread.current.kill }, -> { called << :after_reply })
      env["rack.response_finished"] << ->(*) { called << :finished }
      OK
    end
    server.get

    assert_equal(%i[after_reply finished], Array.new(2) { Timeout.timeout(60) { called.pop } })
    server.threads.first.join(60)
    server.threads[0] = Thread.new { server.lanes.first.serve }
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
end
