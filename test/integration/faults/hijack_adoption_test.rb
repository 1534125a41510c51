# frozen_string_literal: true

require "test_helper"
require_relative "../support/orphaned_workers"

# hijack_timeout of workers whose master has died: hijacked connections, and the hook before_worker_drain. In each test,
# another worker has a request that does not end. The supervisor kills this worker when graceful_timeout is over.
class HijackAdoptionTest < Support::TestCase
  include OrphanedWorkers

  # /hijack echoes lines in upper case. The first line is the pid.
  ECHO = <<~RUBY
    use(Class.new(Struct.new(:app)) do
      def call(env)
        return app.call(env) unless env["PATH_INFO"] == "/hijack"

        io = env["rack.hijack"].call
        io << "\#{Process.pid}\\n"
        Thread.new { io << io.gets.upcase while true rescue io.close }
        [-1, {}, []]
      end
    end)
  RUBY

  def test_a_hijacked_connection_outlives_the_graceful_timeout
    server = start
    assert_hijack_outlives_a_request(server) { kill_master(server) }
  end

  def test_a_worker_that_waits_when_its_master_dies_continues_to_wait
    server = start
    with_hijack(server) do |client, pid|
      server.signal("HUP")
      server.wait_for_output(/ #{pid} w\d g1 waits for 1 hijacked/)
      server.wait_for_output(/worker \d \(pid \d+\) has left/)
      at_gate(server) do
        kill_master(server)
        await_kill(server)
      end
      assert_lives(server, client, pid)
    end
  end

  def test_a_stop_of_the_server_waits
    server = start
    assert_hijack_outlives_a_request(server) do
      orphan_workers(server)
      server.signal("TERM")
    end
    assert_equal 0, server.wait.exitstatus
  end

  def test_the_hook_before_worker_drain_outlives_the_graceful_timeout
    File.mkfifo(hook = File.join(temp_dir, "hook"))
    temp_file("hooks.rb", "before_worker_drain { File.read('hook') if File.exist?('hook') }\n")
    server = start("-c", "hooks.rb")
    former = workers_of(server)
    at_gate(server) do
      kill_master(server)
      killed = await_kill(server)[1].to_i
      open_gate(hook)
      pid = (former - [killed]).first
      assert_equal "exit status 0", server.wait_for_output(/pid #{pid}\) has left: (.*)$/)[1]
    end
  ensure
    File.unlink(hook)
  end

  private

  def start(*args)
    make_gate
    super("-t", "1", "--graceful-timeout", "2s", "--hijack-timeout", "10m", *args, rackup: ECHO + APP, lint: false)
  end

  def with_hijack(server)
    server.connect do |client|
      client.request("GET", "/hijack")
      yield client, client.read_line.to_i
    end
  end

  def await_kill(server)
    server.wait_for_output(/worker \(pid (\d+)\) did not end in time: killed$/)
  end

  # Each worker has one of the two. The block lets the workers end.
  def assert_hijack_outlives_a_request(server)
    at_gate(server) do
      with_hijack(server) do |client, pid|
        yield
        await_kill(server)
        assert_lives(server, client, pid)
      end
    end
  end

  def assert_lives(server, client, pid)
    server.wait_for_output(/ #{pid} w\d g1 waits for 1 hijacked/)
    client.write("still here\n")
    assert_equal "STILL HERE\n", client.read_line
    client.close
    assert_equal "exit status 0", server.wait_for_output(/pid #{pid}\) has left: (.*)$/)[1]
  end
end
