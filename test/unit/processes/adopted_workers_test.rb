# frozen_string_literal: true

require "test_helper"
require_relative "../support/adopted_workers_case"

# Tests how the supervisor (the parent of the master) adopts the workers of a dead master.
class AdoptedWorkersTest < Support::TestCase
  include AdoptedWorkersCase

  def test_only_children_of_this_process_are_adopted
    @scoreboard.pids = [Process.ppid]
    @adopted.take
    assert_empty @adopted
    start(1)
    @adopted.take
    refute_empty @adopted
    assert_nil @adopted.deadline
  end

  # The application may have overwritten the scoreboard. A pid below 1 means a group of processes, or all.
  def test_no_other_process_is_reaped_or_gets_a_signal
    ended, master = start(2)
    Process.kill("KILL", ended)
    eventually { Support::ProcessTable.entry(ended).nil? }
    @forked = [ended, master]
    @scoreboard.pids = [-1, -Process.getpgrp, -(2**31), 0, 1, Process.pid, Process.ppid, (2**31) - 1, ended, master]
    Process.stub(:kill, ->(*signal) { flunk("signal #{signal}") }) do
      @adopted.take
      tick(0)
      @adopted.stop(:kill_children)
    end
    assert_empty @adopted
    assert_empty @scoreboard.forgotten
    assert_equal 9, Process.wait2(ended).last.termsig
  end

  def test_keep_retires_the_workers_above_the_given_number
    first, second = start(2)
    @adopted.take
    later(0) do
      2.times { tick(1) }
      assert_equal "TERM to #{second}\n", @said.gets
      assert_in_delta GRACE, @adopted.deadline - Bontebok::Clock.now
    end
    tick(0)
    assert_equal "TERM to #{first}\n", @said.gets
  end

  def test_leaving_workers_do_not_count_as_kept
    first, second = start(2)
    @scoreboard.leaving = [first]
    @adopted.take
    assert_equal "TERM to #{first}\n", @said.gets
    tick(1)
    tick(0)
    assert_equal "TERM to #{second}\n", @said.gets
    assert_equal 1, logged.scan(/adopts the workers of the dead master: #{second}$/).size
  end

  # The next master dies before all workers of the first master have ended.
  def test_workers_that_were_told_to_leave_do_not_count_as_kept
    first = start(1).last
    @adopted.take
    tick(0)
    assert_equal "TERM to #{first}\n", @said.gets
    start(1)
    @adopted.take
    tick(1)
    third = start(1).last
    @adopted.take
    tick(1)
    assert_equal "TERM to #{third}\n", @said.gets
  end

  def test_a_stop_sends_the_workers_a_signal
    pid = start(1).last
    @adopted.take
    { drain: "QUIT", quit: "INT" }.each do |how, signal|
      @adopted.stop(how)
      assert_equal "#{signal} to #{pid}\n", @said.gets
    end
    @adopted.stop(:kill_children)
    _, status = Process.wait2(pid)
    assert_equal 9, status.termsig
  end

  def test_a_worker_adopted_after_the_stop_gets_the_signal_at_once_and_the_time_that_is_left
    now = Bontebok::Clock.now
    Bontebok::Clock.stub(:now, -> { now }) do
      @adopted.stop(:drain)
      now += GRACE - 4
      pid = start(1).last
      @adopted.take
      assert_equal "QUIT to #{pid}\n", @said.gets
      assert_in_delta 4, @adopted.deadline - now
    end
  end

  # A stand-in for StalledWorkers. look: { pid => text for the log }.
  Stalled = Struct.new(:look) do
    def time
      4711
    end
  end

  def test_a_worker_that_does_not_move_is_killed_once
    @scoreboard.stalled_workers = stalled = Stalled.new({})
    @adopted.configure(@times)
    assert_nil @adopted.deadline
    first, second = start(2)
    @adopted.take
    assert_equal 4711, @adopted.deadline
    stalled.look = { second => "has not moved", Process.pid => "is no worker" }
    2.times { tick(9) }
    _, status = Process.wait2(second)
    assert_equal 9, status.termsig
    @adopted.ended(second, status)
    assert_equal [{ "ended hung" => 1 }, "worker (pid #{second}): has not moved"], counted_ends
    assert_nil Process.wait(first, Process::WNOHANG)
    assert_equal 1, @reader.read_nonblock(4096).scan("worker (pid #{second}) has not moved: killed").size
  end

  def test_a_worker_that_does_not_end_is_killed_once
    pid = start(1).last
    @adopted.take
    tick(0)
    tick(9)
    assert_nil Process.wait(pid, Process::WNOHANG)
    later(GRACE) { 2.times { tick(9) } }
    _, status = Process.wait2(pid)
    assert_equal 9, status.termsig
    @adopted.ended(pid, status)
    assert_empty @adopted
    assert_equal 1, logged.scan("pid #{pid}) did not end in time: killed").size
    assert_match(/warn .*pid #{pid}\) has left: killed by SIGKILL/, logged)
    assert_equal [{ "ended late" => 1 }, "worker (pid #{pid}): did not end in time"], counted_ends
  end

  # The scoreboard also has the lanes (threads) of a worker that died with its master.
  # Also if the supervisor reaps the worker before it adopts the worker.
  def test_only_the_ends_of_workers_count
    worker, master, daemon = start(3)
    @forked = [master]
    @scoreboard.pids = [worker, master]
    [worker, master, daemon].each do |pid|
      Process.kill("KILL", pid)
      @adopted.ended(*Process.wait2(pid))
    end
    assert_equal [{ "ended killed" => 1 }, "worker (pid #{worker}): killed by SIGKILL"], counted_ends
  end

  def test_the_scoreboard_forgets_the_lanes_of_every_process_that_has_ended
    dead, living = start(2)
    Process.kill("KILL", dead)
    eventually { Support::ProcessTable.entry(dead).nil? }
    @adopted.take
    assert_equal [dead], @scoreboard.forgotten
    Process.kill("KILL", living)
    _, status = Process.wait2(living)
    @adopted.ended(living, status)
    assert_equal [dead, living], @scoreboard.forgotten
    assert_empty @adopted
    assert_equal [{ "ended killed" => 2 }, "worker (pid #{living}): killed by SIGKILL"], counted_ends
  end
end
