# frozen_string_literal: true

require_relative "../support/embedded_case"

# Tests how a Server stops: gracefully, after its time, during a request, and while a forked process has its sockets.
class ServerStopTest < EmbeddedCase
  def setup
    @arrived = Queue.new
    @gate = Queue.new
  end

  def test_a_stop_finishes_requests
    server = serve { wait_for_gate }
    in_a_request(server, @arrived) do |client|
      stopping = Thread.new { server.stop }
      eventually { !server.running? }
      @gate.push("done")
      assert_equal "done", client.read_response.body
      assert_equal [true, ["stopping"]], [stopping.value, messages(:info).drop(1)]
    end
  end

  def test_a_stop_gives_up_after_its_time
    ensured = Queue.new
    server = serve do
      wait_for_gate
    ensure
      ensured.push(true)
    end
    in_a_request(server, @arrived) do |client|
      refute server.stop(0.05)
      assert_equal :reset, client.wait_for_end
      assert ensured.pop
      assert_equal ["requests were not finished in time"], messages(:error)
    end
    assert_same server, server.join
    refute server.stop, "a request was not finished"
  end

  # The server has one thread. When the thread is killed, its successor gets the second request, which hangs as well.
  def test_each_request_that_hangs_is_given_up
    server = serve { wait_for_gate }
    in_a_request(server, @arrived) do |first|
      connect(server) do |second|
        second.request("GET", "/")
        refute server.stop(0.05)
        assert_equal %i[reset reset], [first.wait_for_end, second.wait_for_end]
      end
    end
    assert server.join(Support::Deadline::DEFAULT_SECONDS)
  end

  def test_a_second_stop_can_shorten_the_time
    server = serve { wait_for_gate }
    in_a_request(server, @arrived) do
      patient = Thread.new { server.stop(1000) }
      eventually { !server.running? }
      refute server.stop(0)
      refute patient.value
    end
  end

  def test_a_second_stop_does_not_prolong_the_time
    server = serve { wait_for_gate }
    in_a_request(server, @arrived) do
      first = Thread.new { server.stop(0.1) }
      eventually { !server.running? }
      patient = Thread.new { server.stop(1000) }
      assert patient.join(Support::Deadline::DEFAULT_SECONDS), "the second stop waits"
      refute first.value || patient.value
    ensure
      @gate.push("done")
    end
  end

  def test_an_idle_connection_is_closed
    server = serve
    connect(server) do |client|
      assert_equal 200, client.get("/").status
      assert server.stop
      assert_equal :eof, client.wait_for_end
    end
  end

  def test_a_wrong_time_does_not_begin_a_stop
    server = serve
    assert_raises(TypeError) { server.stop(nil) }
    assert_equal [true, "ok"], [server.running?, get(server).body]
  end

  # As in a signal handler.
  def test_a_stop_during_the_start
    server = server()
    make = Bontebok::Lanes.method(:new)
    returned = []
    stopping = ->(*all, **options) { make.call(*all, **options).tap { returned << server.stop << server.addresses } }
    Bontebok::Lanes.stub(:new, stopping) { server.start }
    assert_equal [nil, []], returned
    assert_same server, server.join(Support::Deadline::DEFAULT_SECONDS)
    refute_predicate server, :running?
  end

  def test_the_application_may_stop_its_server
    server = nil
    server = serve { [200, {}, [server.stop.inspect]] }
    assert_equal "nil", get(server).body
    assert server.join(Support::Deadline::DEFAULT_SECONDS)
  end

  def test_a_server_starts_again_while_a_request_of_its_former_run_hangs
    hang = -> { Thread.handle_interrupt(Object => :never) { wait_for_gate } } # a kill comes after the block
    server = serve { |env| env["PATH_INFO"] == "/hang" ? hang.call : OK }
    in_a_request(server, @arrived, "/hang") do
      refute server.stop(0)
      assert_equal 200, get(server.start).status
      @gate.push("done")
    end
  end

  # The forked process has copies of the listeners.
  def test_no_client_connects_while_a_forked_process_lives
    path = File.join(temp_dir, "s.sock")
    server = serve(listen: ["127.0.0.1:0", "unix:#{path}"])
    addresses = server.addresses
    File.link(path, other = "#{path}.link")
    beside_a_fork do
      assert server.stop
      [addresses.first, "unix:#{other}"].each { |address| assert_refused address }
      assert_equal "ok", get(serve(listen: addresses.first)).body
    end
  end

  def test_a_server_is_inert_in_a_forked_process
    server = serve
    assert_in_a_fork { [server.running?, server.addresses, server.stop] == [false, [], true] }
    assert_equal "ok", get(server).body
  end

  def test_a_server_can_be_started_in_a_forked_process
    server = serve { [200, {}, [Process.pid.to_s]] }
    assert_in_a_fork { get(server.start).body == Process.pid.to_s && server.stop }
    assert_equal Process.pid.to_s, get(server).body
  end

  private

  # The application of these tests: returns when the test pushes a text.
  def wait_for_gate
    @arrived.push(true)
    [200, {}, [@gate.pop]]
  end

  # Runs the block while a forked process lives.
  def beside_a_fork
    pid = fork { sleep }
    yield
  ensure
    Process.kill("KILL", pid)
    Process.wait(pid)
  end

  # Fails unless the block returns true in a forked process.
  def assert_in_a_fork
    status = Process.wait2(fork { exit!(yield) }).last
    assert_predicate status, :success?
  end
end
