# frozen_string_literal: true

require "json"
require "test_helper"
require_relative "../support/process_tree"

# Workers are replaced while clients send requests. No request is rejected, and no request waits until a worker has
# booted.
class ProcessRecyclingTest < Support::TestCase
  include ProcessTree

  def test_a_worker_is_replaced_after_max_request_per_child
    server = start_bontebok(args: ["-w", "1", "--max-request-per-child", "5"], rackup: GATED_APP)
    pids = []
    eventually { pids.push(server.get.body).uniq.size == 3 }
    pids.tally.values.first(2).each { |requests| assert_operator requests, :>=, 4 }
    server.wait_for_output(/ w1 g1 wants to be replaced: max requests [45] reached$/)
    server.wait_for_output(/worker \(pid #{pids.first}\) leaves when its replacement is ready/)
    server.wait_for_output(/worker \(pid #{pids.first}\) has left: exit status 0/)
    assert_ended server, "limit", pids.first, "max_requests is reached"
  end

  def test_the_former_worker_serves_until_the_new_worker_is_ready
    make_gate
    server = start_bontebok(args: ["-w", "1", "--preload", "false", "--max-request-per-child", "1"], rackup: <<~RUBY)
      File.open("first", File::CREAT | File::EXCL).close rescue File.read("gate")
      #{GATED_APP}
    RUBY
    server.wait_for_output(/ ready in \d+ ms$/)
    old = server.get.body
    server.wait_for_output(/leaves when its replacement is ready/)
    assert_equal [old] * 3, Array.new(3) { server.get.body }
    eventually { workers(server).size == 2 }
    open_gate
    wait_for_workers(server, 1, without: [old.to_i])
    refute_equal old, server.get.body
  end

  def test_a_worker_is_replaced_when_it_is_old
    server = start_bontebok(args: ["-w", "2", "--max-worker-age", "1"], rackup: GATED_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    old = workers(server)
    wait_for_workers(server, 2, without: old)
    server.wait_for_output(/ w[12] g1 wants to be replaced: age$/)
    assert_ended server, "limit", old.first, "max_worker_age is reached"
    assert_equal 200, server.get.status
  end

  # The worker checks its memory every 10 s.
  def test_a_worker_is_replaced_when_it_has_too_much_memory
    server = start_bontebok(args: ["-w", "1", "--max-worker-memory", "1M"], rackup: GATED_APP)
    old = server.get.body.to_i
    server.wait_for_output(/ w1 g1 wants to be replaced: memory \d+ MB, PSS \d+ MB$/)
    wait_for_workers(server, 1, without: [old])
    refute_equal old, server.get.body.to_i
  end

  def test_without_the_options_no_worker_is_replaced
    server = start_bontebok(args: ["-w", "1"], rackup: GATED_APP)
    assert_equal 1, Array.new(50) { server.get.body }.uniq.size
  end

  def test_a_worker_that_gets_a_signal_is_replaced
    %w[TERM QUIT].each do |signal|
      server = start_bontebok(args: ["-w", "1"], rackup: GATED_APP)
      old = server.get.body.to_i
      Process.kill(signal, old)
      wait_for_workers(server, 1, without: [old])
      refute_equal old, server.get.body.to_i
      assert_ended server, "asked", old, "a signal has asked it to end"
      server.stop
    end
  end

  def test_a_master_that_gets_a_signal_is_replaced
    server = start_bontebok(args: ["-w", "2"], rackup: GATED_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    old = [master(server).pid, *workers(server)]
    Process.kill("TERM", old.first)
    server.wait_for_output(/ info #{old.first} - g1 wants to be replaced: SIGTERM$/)
    eventually { old.all? { |pid| gone?(pid) } }
    assert_includes wait_for_workers(server, 2), server.get.body.to_i
  end

  def test_a_worker_whose_application_exits_is_replaced
    server = start_bontebok(args: ["-w", "1"], rackup: <<~RUBY)
      run ->(env) { env["PATH_INFO"] == "/exit" ? exit : [200, {}, [Process.pid.to_s]] }
    RUBY
    old = server.get.body.to_i
    assert_equal 500, server.get("/exit").status
    wait_for_workers(server, 1, without: [old])
    refute_equal old, server.get.body.to_i
    assert_ended server, "application", old, "the application has ended it"
    server.wait_for_output(%r{GET /exit: exit \(SystemExit\).*the application ends this process}m)
  end

  # Thread#kill cannot be rescued. The other lane (thread) of the worker finishes its request.
  def test_a_worker_whose_application_kills_its_thread_is_replaced
    make_gate
    server = start_bontebok(args: ["-w", "1", "-t", "2"], rackup: <<~RUBY)
      use(Class.new do
        define_method(:initialize) { |app| @app = app }
        define_method(:call) { |env| env["PATH_INFO"] == "/kill" ? Thread.current.kill : @app.call(env) }
      end)
      #{GATED_APP}
    RUBY
    in_flight = server.connect.tap { |client| client.request("GET", "/gate") }
    server.wait_for_output(/at the gate/)
    assert_raises(Support::Client::Closed) { server.get("/kill") }
    server.wait_for_output(/error \d+ \S+ \S+ a serving thread was killed/)
    open_gate
    old = in_flight.read_response.body.to_i
    in_flight.close
    wait_for_workers(server, 1, without: [old])
    refute_equal old, server.get.body.to_i
    server.wait_for_output(/worker \(pid #{old}\) has left: exit status 0/)
    assert_equal 1, server.output.text.scan("killed").size
  end

  def test_no_request_is_lost_while_workers_are_recycled
    server = start_bontebok(args: ["-w", "2", "--max-request-per-child", "20"], rackup: GATED_APP)
    threads = Array.new(4) do
      Thread.new do
        statuses = []
        eventually { statuses.push(server.get.status) && server.output.text.scan("has left").size >= 5 }
        statuses
      end
    end
    assert_equal [200], threads.flat_map(&:value).uniq
  end

  # The load generator is a separate program. With TCP_DEFER_ACCEPT, a worker accepts a connection only after the
  # request has arrived. Without it, the killed worker might also have connections of clients that have not sent their
  # request.
  def test_a_killed_worker_loses_at_most_one_request
    server = start_with_deferred_connections(<<~RUBY)
      count = 0
      run ->(_) { sleep(0.001); $stderr.puts "busy" if (count += 1) == 500; [200, {}, [Process.pid.to_s]] }
    RUBY
    server.wait_for_output(/ ready in \d+ ms$/)
    killed = workers(server).first
    load = start_process(RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, "bench", "--json", "-n", "4000",
                         "-c", "16", "--close", "http://#{server.address}/")
    server.wait_for_output(/busy/)
    Process.kill("KILL", killed)
    load.wait
    load.output.wait_for_end
    result = JSON.parse(load.output.text(:stdout))
    assert_operator result["ok"], :>=, 3999, result.inspect
    server.wait_for_output(/\(pid #{killed}\) ended: killed by SIGKILL/)
  end

  private

  # Starts the server as systemd does, with the descriptor 3.
  def start_with_deferred_connections(rackup)
    listener = TCPServer.new("127.0.0.1", 0)
    listener.setsockopt(:TCP, :DEFER_ACCEPT, 5)
    start_bontebok(args: ["-w", "2"], listen: nil, rackup: rackup, env: { "LISTEN_FDS" => "1" },
                   under: ["sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh"], 3 => listener)
  ensure
    listener.close
  end
end
