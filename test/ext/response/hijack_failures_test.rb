# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/each_body"

# Hijacks by applications that fail.
class HijackFailuresTest < Support::LaneCase
  include Support::EachBody

  def test_an_exception_after_a_hijack_is_logged
    sockets = Queue.new
    server = serve { |env| (sockets << env["rack.hijack"].call) && raise("late") }
    server.connect do |client|
      client.request("GET", "/")
      await_hijack(server)

      assert_equal "late", server.next_report.error.message
      sockets.pop.tap { |socket| socket << "mine" }.close
      assert_equal "mine", client.read(4)
    end
  end

  def test_an_exception_in_a_partial_hijack_resets_the_connection
    server = serve(tcp: true) { [200, {}, []].tap { |r| r[1]["rack.hijack"] = ->(io) { (io << "a") && raise("x") } } }
    server.connect do |client|
      client.request("GET", "/")
      assert_equal :reset, client.wait_for_end
    end
    await_hijack(server)

    assert_equal "x", server.next_report.error.message
  end

  # The application keeps the socket, so no garbage collection closes it.
  def test_a_thread_that_ends_in_a_partial_hijack_resets_the_connection
    kept = ending = nil
    app = ->(_env) { [200, { "rack.hijack" => ->(io) { ((kept = io) << "a") && ending.call } }, []] }
    worker, lane, address = by_hand(app)
    [-> { Thread.current.kill }, -> { throw :out }].each do |way|
      ending = way
      thread = Thread.new { catch(:out) { lane.serve } }
      Support::Client.open(address) { |client| client.request("GET", "/") || client.wait_for_end }
      thread.join

      assert_predicate kept, :closed?
    end
    worker.drain
  end

  # The application does not get the socket then.
  def test_a_thread_that_ends_in_the_report_of_a_hijack_closes_the_socket
    lane = kept = nil
    report = ->(level, _, socket) { level == :detached && (kept = socket) && Thread.current.kill }
    worker, lane, address = by_hand(->(_env) { lane.hijack }, report: report)
    thread = Thread.new { lane.serve }
    Support::Client.open(address) { |client| client.request("GET", "/") || client.wait_for_end }
    thread.join

    assert_predicate kept, :closed?
    worker.drain
  end

  # The connection is not taken then, and the application can respond.
  def test_an_env_that_takes_no_key_refuses_a_hijack
    damages = [->(env) { env.freeze["rack.hijack"].call },
               ->(env) { env.each { |key, value| value.call if key == "rack.hijack" } }]
    damages.each do |damage|
      server = serve { |env| [200, {}, [assert_raises(FrozenError, RuntimeError) { damage.call(env) }.message]] }

      assert_match(/can't (modify frozen|add a new key)/, server.get.body)
    end
  end

  # The socket has not taken the 103, so the hijack waits for the client.
  def test_no_other_thread_sends_a_part_while_each_hijacks
    blocks = Queue.new
    server = serve do |env|
      env["rack.early_hints"].call("link" => "a" * 1_000_000)
      body = Object.new
      body.define_singleton_method(:each) { |&block| (blocks << block) && (env["rack.hijack"].call << "taken").close }
      [200, {}, body]
    end
    server.connect do |client|
      client.request("GET", "/")
      block = blocks.pop
      eventually { server.threads.first.stop? }

      assert_equal(IOError, outcome_of { block.call("part") })
      assert client.read_to_end.end_with?("a\r\n\r\ntaken")
    end
    await_hijack(server)
  end

  private

  def await_hijack(server)
    assert_equal :detached, server.next_report.level
  end
end
