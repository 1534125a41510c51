# frozen_string_literal: true

require "test_helper"
require_relative "../../support/companions_case"

# Tests the processes of a companion: their group, their signals, and that they end with their master.
class CompanionProcessGroupTest < Support::TestCase
  include CompanionsCase

  def test_it_has_a_group_and_the_signals_of_a_new_program
    keep(-> { @say.puts([Process.getpgrp, *%w[QUIT INT].map { |name| Signal.trap(name, "DEFAULT") }].join(" ")) || 0 })
    Bontebok::QuietSignals.hush(["INT"])
    former = Signal.trap("QUIT") { nil }
    begin_to_run
    assert_equal "#{@groups[0].leader} DEFAULT DEFAULT\n", @said.gets
  ensure
    Signal.trap("QUIT", former || "DEFAULT")
    Signal.trap("INT", "DEFAULT")
  end

  # The signal comes right after the fork.
  def test_a_forked_process_does_not_lose_term
    keep(lambda do
      Signal.trap("TERM") { nil }
      100.times do
        forked = fork { sleep }
        Process.kill("TERM", forked)
        Process.wait(forked)
      end
      @say.puts("all have ended")
      0
    end)
    begin_to_run
    assert_equal "all have ended\n", @said.gets
  end

  def test_its_title
    keep(QUIET, ready: true)
    begin_to_run
    assert_match(/\Abontebok jobs/, File.read("/proc/#{@groups[0].leader}/cmdline"))
  end

  def test_all_processes_end_when_the_master_is_killed
    master = fork_master
    pids = [Integer(@said.gets), Integer(@said.gets)]
    pids.each { |pid| assert Support::ProcessTable.entry(pid) }
    Process.kill("KILL", master)
    Process.wait(master)
    eventually("the end of #{pids}") { pids.none? { |pid| Support::ProcessTable.entry(pid) } }
  end

  def test_the_forked_processes_end_when_the_master_and_the_process_are_killed
    master = fork_master
    forked, leader = [Integer(@said.gets), Integer(@said.gets)].partition { |pid| pid != Process.getpgid(pid) }.flatten
    [leader, master].each { |pid| Process.kill("KILL", pid) }
    Process.wait(master)
    assert(eventually("the end of #{forked}") { !Support::ProcessTable.entry(forked) })
  end

  private

  # The leader says the pid of a process that it has forked, and then the master says the leader's pid.
  def fork_master
    fork do
      keep(-> { FORKING.call(@say) })
      begin_to_run(answer: false)
      @say.write("#{@groups[0].leader}\n")
      sleep
    end
  end
end
