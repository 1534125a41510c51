# frozen_string_literal: true

require "test_helper"
require "bontebok/status/text"
require_relative "../support/status_case"

class TextTest < Minitest::Test
  include StatusCase

  SCREENS = File.expand_path("../support/screens", __dir__)

  def test_the_lock_is_held
    holder = worker(1, threads: [busy(1, 11.5, kernel: "hrtimer_nanosleep", label: "GET /lock"), idle(2)], silent: 11.4)
    assert_screen "lock_held", locked(1001.0, holder), locked(1000.0, worker(1))
  end

  # Numbers since the start: nothing is shown per second.
  def test_the_first_look
    assert_screen "first_look", snapshot(service_time: Array.new(731, 0).fill(163, 37, 1))
  end

  def test_a_deploy_with_a_worker_that_leaves_and_two_addresses
    queues = [{ address: "unix:/run/a", length: 2, limit: 10 }, { address: "http://[::1]:80", length: 3, limit: 1024 }]
    ending = worker(1, generation: 1, leaves: true, threads: [busy(1, 0.25, held: "stream", queue_time: 0.0123)],
                       detached: 2, pss: nil, gc_time: nil)
    look = snapshot(server: server(state: "deploying", tag: nil, former: 1, by: "rollback", listeners: ["a", "b"]),
                    accept_queues: queues, workers: [worker(2), ending],
                    deploys: [{ time: NOW - 90_000, text: "generation 2 serves (deploy)" }],
                    ends: [{ time: NOW - 60, text: "worker 3 (pid 7) was killed" }])
    assert_screen "deploying", look
  end

  def test_a_supervisor_that_does_not_answer
    trouble = "the supervisor (pid 10) is stopped (SIGSTOP)"
    look = snapshot(server: { trouble: [trouble] }, workers: [worker(1, threads: [idle(1)])], accept_queues: [])
    assert_screen "silent_supervisor", look
  end

  def test_one_process
    look = snapshot(server: server(mode: "single", workers: 0, generation: 1, threads: 1, by: "start"),
                    workers: [worker(1)])
    assert_match(/\Aapp: serving generation 1 since 03:02 \(start\), one process of 1 thread, up 3 days$/, text(look))
  end

  def test_an_empty_snapshot
    assert_screen "nothing", Bontebok::Status::Snapshot.new
  end

  def test_rates_since_the_last_look
    now = snapshot(at: 1002.0, totals: totals(responses: { "2xx" => 1159, "5xx" => 4 }),
                   service_time: Array.new(731, 0).fill(1000, 50, 1),
                   workers: [worker(1, cpu: 3.9, gc_time: 1.64), worker(2)])
    text = text(now, snapshot(workers: [worker(1, cpu: 2.0), worker(2)]))
    assert_includes text, "| 500 req/s, p50 0.05 ms, p99 0.05 ms | 5xx 0.5/s |"
    assert_includes text, "PSS 98 MB, CPU 95 %, GC 10 %, up 8 min\n"
  end

  # The times are those of the application.
  def test_files_are_shown_if_there_are_any
    first = snapshot(totals: totals(files: 12))
    now = snapshot(at: 1002.0, totals: totals(responses: { "2xx" => 1160, "5xx" => 3 }, files: 1000))
    assert_includes text(first), "| 163 responses since the start (12 files), p50 -, p99 - |"
    assert_includes text(now, first), "| 500 req/s (494 files/s), p50 -, p99 - |"
    refute_match(/file/, text(snapshot(at: 1004.0, totals: now.totals), now) + text(snapshot))
  end

  def test_at_most_20_threads_of_a_worker_have_a_line_the_longest_first
    lines = text(snapshot(workers: [worker(1, threads: (1..64).map { |n| busy(n, n / 10.0) })])).lines(chomp: true)
    assert_match(/\A  thread 64  6\.4 s  GET /, lines[3])
    assert_match(/\A  thread 45  4\.5 s  GET /, lines[22])
    assert_equal "  and 44 more", lines[23]
  end

  def test_quiet_workers_beyond_10_share_a_line
    workers = (1..64).map { |number| worker(number) } + [worker(65, threads: [busy(1, 1)])]
    lines = text(snapshot(workers: workers)).lines(chomp: true)
    assert_equal [65, *1..10], lines.grep(/\Aworker (\d+)/) { Regexp.last_match(1).to_i }
    assert_includes lines, "54 more idle workers: 8802 requests, 0 errors, 648 connections, PSS 5292 MB"
  end

  def test_a_line_has_the_time_the_numbers_and_the_worst_cause
    look = snapshot(workers: [worker(1, leaves: true), worker(2, state: "T")])
    numbers = "waiting 0 | busy 0 of 4 | 163 responses since the start, p50 -, p99 - | 5xx 3 | rejected 0 | " \
              "accept queue 0 of 1024"
    assert_equal "2026-11-29 03:10:00 | #{numbers} | worker 2: IS STOPPED (SIGSTOP) (and 1 other cause)", line(look)
    assert_equal "2026-11-29 03:10:00 | #{numbers}", line(snapshot)
  end

  # About 20 ms, of the 100 ms that a look may take.
  def test_64_workers_of_16_threads_are_a_screen_at_once
    threads = (1..16).map { |i| busy(i, i, kernel: "futex_wait_queue", cpu: 1.0) }
    workers = (1..64).map { |n| worker(n, threads: threads) }
    times = Array.new(5) do
      began = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
      text(snapshot(at: 1001.0, workers: workers), snapshot(workers: workers))
      Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) - began
    end
    assert_operator times.min, :<, 0.1
  end

  private

  # at: the time of the look. worker: the worker that holds the lock.
  def locked(at, worker)
    snapshot(at: at, waiting: { requests: 4, oldest: 11.5 }, workers: [worker(2), worker],
             deploys: [{ time: NOW - 180, text: "generation 3 failed: the new release is broken" }],
             totals: totals(rejected: { "queue_timeout" => 2, "queue_full" => 5 }))
  end

  # name: of a file in SCREENS.
  def assert_screen(name, *looks)
    assert_equal File.read("#{SCREENS}/#{name}.txt"), "#{text(*looks)}\n"
  end

  def text(*looks) = Bontebok::Status::Text.screen(*looks, zone: "UTC")
  def line(*looks) = Bontebok::Status::Text.line(*looks, zone: "UTC")
end
