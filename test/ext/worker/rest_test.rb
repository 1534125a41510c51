# frozen_string_literal: true

require_relative "../support/lane_case"

# Worker#rest: how a worker's lanes report that they have a request again.
class RestTest < Support::LaneCase
  def test_a_worker_that_was_never_asked_reports_nothing
    server = serve { OK }
    2.times { server.get }
    assert_empty server.reports
  end

  def test_the_first_request_after_a_rest_is_reported
    server = serve { OK }
    assert server.worker.rest
    2.times { server.get }
    assert_equal [[:busy, nil, nil]], server.reports.map(&:to_a)
  end

  def test_there_is_no_rest_if_a_request_has_come_since_the_last_call
    server = serve { OK }
    server.get
    eventually { server.worker.requests == 1 }
    assert_equal [false, true, true], Array.new(3) { server.worker.rest }
    server.get
    assert_equal :busy, server.next_report.level
  end

  def test_there_is_no_rest_while_a_request_is_served_however_it_ends
    gate = Queue.new
    server = serve { gate.pop.then { |answer| answer == :raise ? raise("a fault") : throw(answer) } }
    %i[raise throw].each do |answer|
      server.connect do |client|
        client.request("GET", "/")
        eventually { gate.num_waiting == 1 }
        assert_equal [false, false], [server.worker.rest, server.worker.rest]
        gate.push(answer)
        client.read_response
      end
      assert(eventually { server.worker.rest })
    end
    server.reports
  end

  # The thread's request is lost with it, and does not count any longer.
  def test_a_thread_that_is_killed_has_no_request_any_longer
    server = serve { Thread.current.kill }
    server.connect do |client|
      client.request("GET", "/")
      client.wait_for_end
    end
    server.threads.first.join
    assert server.worker.rest
  end
end
