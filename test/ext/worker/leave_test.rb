# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/failing"

# An application ends its process with exit, a signal exception or NoMemoryError. The client gets a 500. The lane
# reports :leave, and serves requests until the worker is drained.
class LeaveTest < Support::LaneCase
  LEAVING = { SystemExit => -> { exit(3) }, NoMemoryError => -> { raise NoMemoryError, "no" },
              Interrupt => -> { raise Interrupt, "now" },
              SignalException => -> { raise SignalException, "TERM" } }.freeze

  LEAVING.each do |kind, failure|
    define_method(:"test_#{kind.name.downcase}_is_reported_as_leave") do
      server = serve { |env| env["PATH_INFO"] == "/leave" ? failure.call : OK }

      assert_equal 500, server.get("/leave").status
      assert_equal([:error, "GET /leave"], server.next_report.then { |report| [report.level, report.message] })
      assert_leave(kind, server.next_report)
      assert_equal "ok", server.get.body
    end
  end

  def test_exit_is_reported_as_leave_at_every_step
    Support::Failing::STEPS.each do |step|
      app = Support::Failing.new(step) { exit(4) }
      server = serve(app, settings: { keepalive_drain: 10 })
      server.connect do |client|
        client.write("GET / HTTP/1.0\r\n\r\n")
        client.wait_for_end
      end

      assert_equal :error, server.next_report.level, step
      assert_equal 4, assert_leave(SystemExit, server.next_report).status, step
    end
  end

  private

  def assert_leave(kind, report)
    assert_equal [:leave, nil], [report.level, report.message]
    assert_kind_of kind, report.error
    report.error
  end
end
