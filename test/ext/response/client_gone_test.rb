# frozen_string_literal: true

require_relative "../support/lane_case"

# Clients that close the connection before their request is served.
class ClientGoneTest < Support::LaneCase
  FIN_WAIT2 = 5 # tcp(7), TCP_INFO: the other side has acknowledged our FIN

  def test_the_application_is_not_called_for_a_client_that_is_gone
    { unix: false, tcp: true }.each do |family, tcp|
      calls = while_busy(tcp: tcp, settings: { check_client_connection: 1 }) do |server|
        server.connect do |client|
          client.request("GET", "/gone")
          await_end_of(client) if tcp
        end
      end

      assert_equal %w[/busy /last], calls, family
      assert_report
    end
  end

  def test_a_client_that_waits_is_served
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

  # Serves with one lane (a thread). The lane is busy while the block runs. Returns the paths that the application was
  # called for.
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

  # Closes the writing side, and waits until the server's kernel has acknowledged the FIN.
  def await_end_of(client)
    client.finish_writing
    eventually { client.socket.getsockopt(:TCP, :INFO).data.ord == FIN_WAIT2 }
  end

  def assert_report
    report = @server.next_report

    assert_equal :info, report.level
    assert_match(/the client has closed the connection.* \(499\)/, report.message)
  end
end
