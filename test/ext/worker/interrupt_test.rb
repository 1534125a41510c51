# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/failing"

# A lane can be interrupted at any point. Even then, no client waits for the rest of its response, and no body stays
# open.
class InterruptTest < Support::LaneCase
  def test_a_waiting_lane_can_be_killed
    server = serve { OK }
    server.get
    eventually { server.threads.first.stop? }
    server.threads.first.kill

    assert_equal [nil], server.wait
  end

  # The exception was meant for an earlier request, so the next request must not fail.
  def test_a_waiting_lane_survives_an_exception_of_another_thread
    server = serve { OK }
    server.get
    eventually { server.threads.first.stop? }
    server.threads.first.raise("late")
    report = server.next_report

    assert_equal [:error, "outside of a request", "late"], [report.level, report.message, report.error.message]
    assert_equal "ok", server.get.body
  end

  def test_an_interrupt_of_a_waiting_lane_is_reported_as_leave
    server = serve { OK }
    server.get
    eventually { server.threads.first.stop? }
    server.threads.first.raise(Interrupt, "now")

    assert_equal(%i[error leave], Array.new(2) { server.next_report.level })
    assert_equal "ok", server.get.body
  end

  def test_a_lane_that_is_killed_while_the_client_waits_aborts_the_response
    %i[call each stream].each do |where|
      inside = Queue.new
      body = blocking_body(where, inside)
      server = serve { where == :call ? (inside << true) && sleep : [200, {}, body] }
      server.connect do |client|
        client.request("GET", "/")
        inside.pop
        server.threads.first.kill

        assert_includes %i[eof reset], client.wait_for_end, where
      end
      assert_equal [nil], server.wait
      assert_equal where == :call ? 0 : 1, body.closed, where
    end
  end

  def test_a_lane_that_is_killed_while_it_waits_for_the_client_closes_the_body
    body = Support::Failing::Body.new(->(out) { loop { out.call("x" * 100_000) } })
    server = serve(settings: { response_buffer: 1000, spool_max: 1 }) { [200, {}, body] }
    server.connect do |client|
      client.request("GET", "/")
      client.read(1000)
      eventually { server.threads.first.stop? }
      server.threads.first.kill

      assert_equal [nil], server.wait
    end
    assert_equal 1, body.closed
  end

  def test_a_throw_to_a_catch_around_serve_ends_the_request
    worker, lane, address = by_hand(->(_) { throw :out, :thrown })
    client = Support::Client.new(address)
    client.request("GET", "/")

    assert_equal :thrown, catch(:out) { lane.serve }
    assert_includes %i[eof reset], client.wait_for_end
    worker.drain
    assert_nil lane.serve, "it can be served again"
  ensure
    client&.close
  end

  private

  # Returns a body. When the server sends this body, the body pushes to `inside` and then sleeps.
  def blocking_body(where, inside)
    return Support::Failing::Body.new(call: ->(_) { (inside << true) && sleep }) if where == :stream

    Support::Failing::Body.new(->(out) { out.call("x") || ((inside << true) && sleep) })
  end
end
