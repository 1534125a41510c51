# frozen_string_literal: true

require_relative "support/lane_case"

# Clients that go away before their turn.
class DesertedTest < Support::LaneCase
  def test_a_client_that_has_gone_costs_no_call
    { unix: false, tcp: true }.each do |family, tcp|
      calls = while_busy(tcp: tcp, settings: { check_client_connection: 1 }) do |server|
        server.connect { |client| client.request("GET", "/gone") }
      end

      assert_equal %w[/busy /last], calls, family
      assert_report
    end
  end

  def test_one_that_waits_is_served
    calls = while_busy(settings: { check_client_connection: 1 }) do |server|
      @waiting = Support::Client.new(server.address)
      @waiting.request("GET", "/waits")
    end

    assert_equal "ok", @waiting.read_response.body
    assert_equal %w[/busy /last /waits], calls.sort
  ensure
    @waiting&.close
  end

  private

  # Serves with one lane, which is busy while the block runs. Returns the paths that the application was called for.
  def while_busy(**options)
    calls = []
    gate = Queue.new
    server = serve(**options) do |env|
      calls << env["PATH_INFO"]
      gate.pop if env["PATH_INFO"] == "/busy"
      OK
    end
    busy = Thread.new { server.get("/busy") }
    eventually { gate.num_waiting == 1 }
    yield server
    gate << true
    busy.join
    server.get("/last")
    @server = server
    calls
  end

  def assert_report
    report = @server.next_report

    assert_equal :info, report.level
    assert_match(/the client has gone before its turn.* \(499\)/, report.message)
  end
end
