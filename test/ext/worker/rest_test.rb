# frozen_string_literal: true

require_relative "../support/lane_case"

# Worker#rest returns true if the worker is idle. After a call that returned true, the next request is reported as
# :busy.
class RestTest < Support::LaneCase
  def test_without_a_call_of_rest_no_request_is_reported
    server = serve { OK }
    2.times { server.get }
    assert_empty server.reports
  end

  def test_the_first_request_after_rest_is_reported_as_busy
    server = serve { OK }
    assert server.worker.rest
    2.times { server.get }
    assert_equal [[:busy, nil, nil]], server.reports.map(&:to_a)
  end

  def test_rest_is_false_if_a_request_has_ended_since_the_last_call
    server = serve { OK }
    server.get
    eventually { server.worker.requests == 1 }
    assert_equal [false, true, true], Array.new(3) { server.worker.rest }
    server.get
    assert_equal :busy, server.next_report.level
  end

  def test_rest_is_false_while_a_request_is_served
    gate = Queue.new
    server = serve { gate.pop.then { |way| way == :raise ? raise("a fault") : throw(way) } }
    %i[raise throw].each do |way|
      server.connect do |client|
        client.request("GET", "/")
        eventually { gate.num_waiting == 1 }
        assert_equal [false, false], [server.worker.rest, server.worker.rest]
        gate.push(way)
        client.read_response
      end
      assert(eventually { server.worker.rest })
    end
    server.reports
  end

  def test_rest_does_not_count_the_request_of_a_killed_thread
    server = serve { Thread.current.kill }
    server.connect do |client|
      client.request("GET", "/")
      client.wait_for_end
    end
    server.threads.first.join
    assert server.worker.rest
  end

  # The Array is of an earlier env. The exception of Ruby's own Array#clear would call the method inspect.
  def test_a_request_counts_once_whatever_the_application_has_put_into_a_frozen_array
    killer = Object.new.tap { |object| object.define_singleton_method(:inspect) { Thread.current.kill } }
    kept = nil
    server = serve { |env| (kept ||= env["rack.after_reply"]) && OK }
    server.get
    server.await_requests(1)
    kept.push(killer).freeze

    assert_equal "ok", server.get.body
    server.await_requests(2)
    server.worker.rest
    assert server.worker.rest
    server.stop
    server.reports
  end
end
