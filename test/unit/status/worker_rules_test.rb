# frozen_string_literal: true

require "test_helper"
require "bontebok/status/diagnosis"
require_relative "../support/status_case"

# Tests each rule for a worker: the cause that it finds, and the similar worker of which it says nothing.
class WorkerRulesTest < Minitest::Test
  include StatusCase

  FUTEX = "futex_wait_queue"

  def test_a_healthy_worker_has_no_cause
    assert_empty causes
    assert_empty causes(threads: [busy(1, 0.2, kernel: FUTEX), idle(2)], silent: 0.4)
    assert_empty causes(threads: [busy(1, 11.5, kernel: "do_sys_poll"), idle(2)], silent: 0.9)
  end

  def test_a_stopped_worker
    assert_equal ["IS STOPPED (SIGSTOP)"], causes(state: "T", threads: [busy(1, 20, run: "T")], silent: 20.0)
    assert_equal ["IS STOPPED BY A DEBUGGER"], causes(state: "t")
  end

  def test_a_worker_that_accepts_nothing
    none = "ACCEPTS NO CONNECTIONS: no descriptor is free, or max_connections is reached"
    assert_equal [none], causes(paused: true)
    assert_equal [none, "leaves"], causes(paused: true, leaves: true)
  end

  def test_a_zombie
    assert_equal ["HAS ENDED, and its parent has not noticed (zombie)"], causes(state: "Z", silent: 9.0)
  end

  def test_the_lock_is_held
    held = "RUBY'S LOCK IS HELD for 11 s"
    assert_equal [held], causes(threads: [busy(1, 11.5, kernel: "hrtimer_nanosleep"), idle(2)], silent: 11.4)
    assert_equal [held], causes(threads: [busy(1, 11.5), idle(2)], silent: 11.4)
    assert_equal [held], causes(threads: [busy(1, 11.5), busy(2, 9.0, kernel: FUTEX)], silent: 11.4)
    assert_equal [held], causes(threads: [busy(1, 11.5, run: "S"), busy(2, 9.0, kernel: FUTEX)], silent: 11.4)
    assert_equal [held], causes(threads: [busy(1, 11.5, kernel: FUTEX), busy(2, 12, kernel: FUTEX)], silent: 11.4)
  end

  def test_a_silent_worker_is_no_holder_before_3_seconds
    assert_empty causes(threads: [busy(1, 11.5), idle(2)], silent: 2.9)
    assert_equal 1, causes(threads: [busy(1, 11.5), idle(2)], silent: 3.0).size
  end

  # Without requests there are no heartbeats.
  def test_silence_before_the_oldest_request_does_not_count
    assert_empty causes(silent: 500.0)
    assert_empty causes(threads: [busy(1, 0.1, kernel: FUTEX), idle(2)], silent: 500.0)
    assert_equal ["RUBY'S LOCK IS HELD for 4 s"], causes(threads: [busy(1, 4.2), idle(2)], silent: 500.0)
  end

  # A thread that waits for a socket has probably released the lock, so the cause is not certain.
  def test_the_main_thread_is_silent_and_all_requests_wait_for_others
    threads = [busy(1, 11.5, kernel: "do_sys_poll"), busy(2, 30, kernel: "wait_woken")]
    assert_equal ["THE MAIN THREAD HAS NOT RUN for 11 s: a C call or a deadlock"],
                 causes(threads: threads, silent: 11.4)
    assert_equal ["RUBY'S LOCK IS HELD for 11 s"], causes(threads: [*threads, busy(3, 12)], silent: 11.4)
  end

  # The kernel may not tell it to this user, or there was no time to read it.
  def test_the_main_thread_is_silent_and_nobody_knows_for_what_the_requests_wait
    unknown = [busy(1, 11.5, run: nil), busy(2, 12, run: "S"), busy(3, 12, run: "D"), busy(4, 12, run: "S", tid: nil)]
    [*unknown.map { |thread| [thread] }, unknown, [unknown.first, busy(2, 12, kernel: "do_poll")]].each do |threads|
      assert_equal ["THE MAIN THREAD HAS NOT RUN for 11 s: a C call or a deadlock"],
                   causes(threads: [*threads, idle(9)], silent: 11.4), threads
    end
    assert_equal ["RUBY'S LOCK IS HELD for 11 s"], causes(threads: [*unknown, busy(5, 12)], silent: 11.4)
  end

  # A reader without rights does not see whether the process is stopped.
  def test_the_main_thread_is_silent_and_the_state_of_the_process_is_unknown
    assert_equal ["THE MAIN THREAD HAS NOT RUN for 11 s: a C call or a deadlock, or the process is stopped"],
                 causes(threads: [busy(1, 11.5, run: nil), idle(2)], silent: 11.4, state: nil)
  end

  def test_a_deadlock_needs_two_looks_without_cpu_time
    now = [busy(1, 12.0, kernel: FUTEX, cpu: 0.5), busy(2, 13.0, kernel: FUTEX, cpu: 0.25)]
    before = [busy(1, 10.0, kernel: FUTEX, cpu: 0.5), busy(2, 11.0, kernel: FUTEX, cpu: 0.25)]
    perhaps = "PERHAPS A DEADLOCK: 2 requests wait for locks, without CPU time, for 12 s"
    assert_equal [perhaps], causes({ threads: now, silent: 0.5 }, { threads: before })
    assert_equal [perhaps], causes({ threads: [*now, idle(3)], silent: 0.5 }, { threads: before })
    assert_equal ["ALL 2 THREADS WAIT for 12 s: futex_wait_queue 2"], causes(threads: now, silent: 0.5)
  end

  # Between two looks of which one is 20 s old, the thread had other requests.
  def test_a_request_that_is_younger_than_the_earlier_look_is_in_no_deadlock
    threads = [busy(1, 12.0, kernel: FUTEX, cpu: 0.5), busy(2, 13.0, kernel: FUTEX, cpu: 0.5), idle(3)]
    looks = [1020.0, 1000.0].map { |at| snapshot(at: at, workers: [worker(1, threads: threads)]) }
    assert_empty Bontebok::Status::Diagnosis.new(*looks).workers.first.causes
  end

  def test_threads_that_use_cpu_time_or_have_a_new_request_are_in_no_deadlock
    before = { threads: [busy(1, 10.0, kernel: FUTEX, cpu: 0.5), busy(2, 11.0, kernel: FUTEX, cpu: 0.25)] }
    [[12.0, 0.52], [1.9, 0.5], [12.0, nil]].each do |taken, cpu|
      threads = [busy(1, taken, kernel: FUTEX, cpu: cpu), busy(2, 13.0, kernel: FUTEX, cpu: 0.25), idle(3)]
      assert_empty causes({ threads: threads }, before), [taken, cpu]
    end
    alone = { threads: [busy(1, 12.0, kernel: FUTEX, cpu: 0.5), idle(2)] }
    assert_empty causes(alone, before)
  end

  def test_all_threads_wait
    assert_equal ["ALL 2 THREADS WAIT for 4 s: hrtimer_nanosleep 2"],
                 causes(threads: [busy(1, 4.9, kernel: "hrtimer_nanosleep"), busy(2, 6, kernel: "hrtimer_nanosleep")],
                        silent: 0.1)
    assert_equal ["ALL 2 THREADS WAIT for 2 s: do_sys_poll 1, unknown 1"],
                 causes(threads: [busy(1, 2.5, kernel: "do_sys_poll"), busy(2, 6, run: "D")])
    assert_equal ["ITS THREAD WAITS for 2 s: wait_woken"], causes(threads: [busy(1, 2.5, kernel: "wait_woken")])
  end

  def test_short_waits_and_a_free_thread_are_no_cause
    assert_empty causes(threads: [busy(1, 0.9, kernel: "wait_woken"), busy(2, 6, kernel: "wait_woken")])
    assert_empty causes(threads: [busy(1, 9, kernel: "wait_woken"), idle(2)])
    assert_empty causes(threads: [])
  end

  # While a thread computes, the others wait for Ruby's lock.
  def test_all_threads_compute
    assert_equal ["ALL 2 THREADS COMPUTE for 4 s"], causes(threads: [busy(1, 4.9), busy(2, 5)], silent: 0.1)
    assert_equal ["ALL 2 THREADS COMPUTE for 4 s"], causes(threads: [busy(1, 4.9), busy(2, 5, kernel: FUTEX)])
    assert_equal ["ITS THREAD COMPUTES for 4 s"], causes(threads: [busy(1, 4.9)])
    assert_empty causes(threads: [busy(1, 4.9), busy(2, 5, kernel: "do_sys_poll")])
  end

  def test_a_worker_that_leaves
    assert_equal ["leaves"], causes(leaves: true)
    assert_equal ["RUBY'S LOCK IS HELD for 4 s", "leaves"], causes(leaves: true, threads: [busy(1, 4.2)], silent: 5.0)
  end

  private

  # The texts of the causes of a worker with these fields. before: its fields two seconds earlier.
  def causes(fields = nil, before = nil, **others)
    now = snapshot(at: 1002.0, workers: [worker(1, **(fields || others))])
    earlier = snapshot(workers: [worker(1, **before)]) if before
    Bontebok::Status::Diagnosis.new(now, earlier).workers.first.causes.map(&:text)
  end
end
