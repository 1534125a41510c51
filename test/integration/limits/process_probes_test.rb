# frozen_string_literal: true

require "test_helper"
require_relative "../support/busy_worker"

# ready_path and live_path, while the application is stuck in all threads, or whole processes are.
class ProcessProbesTest < Support::TestCase
  include BusyWorker

  PATHS = ["--ready-path", "/-/ready", "--live-path", "/-/live"].freeze

  # /lock calls sleep(3) without releasing Ruby's lock. A C extension can do the same.
  LOCK = <<~RUBY
    require "fiddle"

    LIBC_SLEEP = Fiddle::Function.new(Fiddle::Handle::DEFAULT["sleep"], [Fiddle::TYPE_INT], Fiddle::TYPE_INT,
                                      need_gvl: true)
    run(lambda do |env|
      LIBC_SLEEP.call(600) if env["PATH_INFO"] == "/lock"
      [200, {}, []]
    end)
  RUBY

  def test_probes_are_answered_while_all_threads_of_all_workers_are_stuck
    assert_answers_while_stuck(4, "-w", "2", "-t", "2")
  end

  def test_probes_are_answered_while_the_only_thread_is_stuck
    assert_answers_while_stuck(1, "-w", "1")
  end

  def test_probes_are_answered_while_the_thread_of_a_single_process_is_stuck
    assert_answers_while_stuck(1, "-w", "0")
  end

  def test_a_stuck_worker_answers_for_a_frozen_worker
    server = start("-w", "2", *PATHS)
    client = connect(server)
    frozen = other_than(server, block(server, client))
    stop_process(frozen)
    assert_answers server, 200, 200
    unblock(client)
    Process.kill("CONT", frozen)
  end

  # The master is frozen, so that it does not replace the worker.
  def test_the_server_is_not_alive_if_all_workers_hang
    server = start("-w", "1", "--worker-timeout", "200ms", *PATHS, application: LOCK)
    master = master(server).pid
    stop_process(master)
    connect(server).request("GET", "/lock")
    eventually("503") { server.get("/-/live").status == 503 }
    assert_answers server, 200, 503
    Process.kill("CONT", master)
    eventually("200") { server.get("/-/live").status == 200 }
  end

  private

  def assert_answers_while_stuck(threads, *size)
    server = start(*size, *PATHS, "--access-log", "-")
    early = connect(server)
    ask(early)
    stuck = Array.new(threads) { |number| [connect(server), "gate#{number}"] }
    stuck.each { |client, gate| block(server, client, gate) }
    assert_answers server, 200, 200
    assert_equal 200, early.get("/-/ready").status
    server.wait_for_output(%r{"GET /-/ready HTTP/1\.1" 200 7 })
    stuck.each { |client, gate| unblock(client, gate) }
  end

  # Sends each probe on a new connection.
  def assert_answers(server, ready, live)
    assert_equal [ready, live], [server.get("/-/ready").status, server.get("/-/live").status]
  end
end
