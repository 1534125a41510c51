# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/busy_worker"

# The threads of one worker wait for Ruby's global VM lock (GVL). No request waits for this worker while another worker
# is idle.
class ProcessLockTest < Support::TestCase
  include Support::OnceMore
  include BusyWorker

  # Responds with the worker's pid. /hold starts a thread that holds the GVL for seconds, because Ruby does not switch
  # threads during the C function crypt.
  APPLICATION = <<~RUBY
    hold = lambda do
      $stderr.puts "held"
      "secret".crypt("$6$rounds=4000000$salt")
      $stderr.puts "released"
    end
    run(lambda do |env|
      Thread.new(&hold) if env["PATH_INFO"] == "/hold"
      [200, {}, [Process.pid.to_s]]
    end)
  RUBY

  # Waits until the worker has used 0.05 s of processor time. Only crypt uses this much, so the thread is then inside
  # crypt.
  def hold(server, client)
    held = client.get("/hold").body.to_i
    server.wait_for_output(/^held$/)
    before = Support::ProcessTable.cpu_seconds(held)
    eventually("the call") { Support::ProcessTable.cpu_seconds(held) - before >= 0.05 }
    held
  end

  def assert_served_elsewhere(threads)
    server = start("-w", "2", "-t", threads.to_s, application: APPLICATION)
    kept = Array.new(10) { connect(server) }
    kept.each { |client| ask(client) }
    held = hold(server, kept.first)
    new = Array.new(20) { ask(connect(server)) }
    pids = [*new, *kept.flat_map { |client| Array.new(3) { ask(client) } }]
    refute_match(/^released$/, server.output.text)
    assert_equal [other_than(server, held)], pids.uniq
    server.wait_for_output(/^released$/)
  end

  # /nap sleeps for 1 ms, 50 times. It returns how many requests the worker began during this time.
  TURNS = <<~RUBY
    begun = 0
    nap = lambda do
      before = begun
      50.times { sleep 0.001 }
      begun - before
    end
    run(lambda do |env|
      next [200, {}, [begun.to_s]] if env["PATH_INFO"] == "/begun"
      next [200, {}, [nap.call.to_s]] if env["PATH_INFO"] == "/nap"
      begun += 1
      limit = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + 0.001
      nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < limit
      [200, {}, []]
    end)
  RUBY
  LOAD_TOOL = File.join(ROOT, "lib/bontebok/bontebok-bench")

  # A request takes 1 ms. If a thread kept the GVL for Ruby's whole time slice (100 ms), the thread would serve 100
  # requests during each sleep.
  def test_the_threads_of_a_worker_take_turns
    server = start("-w", "1", "-t", "2", application: TURNS)
    load = start_process(LOAD_TOOL, "-c", "8", "-d", "60", "#{server.address}:/")
    client = connect(server)
    eventually { number(client, "/begun") > 100 }
    assert_includes 1..(50 * 20), number(client, "/nap")
    load.stop
  end

  def number(client, path)
    client.get(path).body.to_i
  end

  def test_an_idle_worker_serves_while_the_one_thread_of_another_waits_for_the_lock = assert_served_elsewhere(1)
  def test_an_idle_worker_serves_while_several_threads_of_another_wait_for_the_lock = assert_served_elsewhere(3)
end
