# frozen_string_literal: true

require_relative "support/lane_case"
require_relative "support/failing"

# An application that asks its process to leave: 500, then the worker drains, and serve returns what was raised.
class LeaveTest < Support::LaneCase
  LEAVING = { SystemExit => -> { exit(3) }, NoMemoryError => -> { raise NoMemoryError, "no" },
              Interrupt => -> { raise Interrupt, "now" },
              SignalException => -> { raise SignalException, "TERM" } }.freeze

  LEAVING.each do |kind, failure|
    define_method(:"test_#{kind.name.downcase}") do
      server = serve { failure.call }
      response = server.get

      assert_equal [500, false], [response.status, response.keep_alive?]
      assert_kind_of kind, server.wait.first
      assert_kind_of kind, server.next_report.error
    end
  end

  def test_exit_from_every_step
    Support::Failing::STEPS.each do |step|
      app = Support::Failing.new(step) { exit(4) }
      server = serve(app, settings: { keepalive_drain: 10 })
      server.connect do |client|
        client.request("GET", "/")
        client.wait_for_end
      end

      assert_equal 4, server.wait.first.status, step
      assert_equal :error, server.next_report.level
    end
  end

  def test_what_is_in_flight_is_served
    started = Queue.new
    go_on = Queue.new
    server = serve(count: 2) do |env|
      exit if env["PATH_INFO"] == "/exit"
      started << true
      go_on.pop
      OK
    end
    server.connect do |client|
      client.request("GET", "/slow")
      started.pop
      server.get("/exit")
      go_on << true
      response = client.read_response

      assert_equal ["ok", false], [response.body, response.keep_alive?]
    end

    assert_equal [NilClass, SystemExit], server.wait.map(&:class).sort_by(&:name)
    server.next_report
  end

  def test_the_first_one_counts
    started = Queue.new
    go_on = Queue.new
    codes = [1, 2]
    server = serve { (started << true) && go_on.pop && exit(codes.shift) }
    clients = Array.new(2) { server.connect.tap { |client| client.request("GET", "/") } }
    started.pop
    2.times { go_on << true }

    assert_equal(%i[eof eof], clients.map { |client| client.wait_for_end.tap { client.close } })
    assert_equal 1, server.wait.first.status
    assert_equal 2, server.reports.size
  end
end
