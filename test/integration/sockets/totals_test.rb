# frozen_string_literal: true

require "test_helper"
require_relative "../support/supervisor_case"

# A server's totals are the responses that its clients have got, whatever happens to its processes.
class TotalsOfServerTest < Support::TestCase
  include SupervisorCase

  SUPERVISOR = /\Athe supervisor runs bontebok /

  # Collects its garbage in each request.
  APP = "run(->(_) { [200, {}, [GC.start.to_s]] })"

  def test_totals_survive_everything
    release(1)
    server = start("--keep-former", "600")
    totals = TotalsReader.new(server.pid)
    asked = 0
    falls = totals.watch do
      [-> { kill_worker(server) }, -> { deploy_and_wait(2) }, -> { assert_command 0, SUPERVISOR, *COMMAND },
       -> { deploy_and_wait(3) }, -> { assert_command 0, /serves again/, "rollback", "--wait" },
       -> { assert_command 0, SUPERVISOR, *COMMAND }, -> { kill_master(server) }].each do |event|
        2.times { assert_equal 200, server.get.status }
        event.call
        asked += 2
        eventually("#{asked} responses", seen: -> { totals.look }) { totals.look[:responses_2xx] == asked }
      end
    end
    assert_empty falls
    assert_equal 1, totals.memories
    assert_counted totals
    assert_equal 0, server.stop.exitstatus
  end

  private

  def release(number) = super(number, "config.ru" => APP)

  def deploy_and_wait(number)
    release(number)
    assert_command 0, "generation #{number} serves\n", "deploy", "--wait"
  end

  def kill_worker(server)
    former = workers(server)
    Process.kill("KILL", former.first)
    wait_for_workers(server, 2, without: former.first(1))
  end

  def kill_master(server)
    Process.kill("KILL", master(server).pid)
    server.wait_for_output(/w2 g4 ready/)
  end

  def assert_counted(totals)
    deploys = ["1 serves (start)", "2 serves (deploy)", "3 serves (deploy)", "2 serves (rollback)",
               "4 serves (in place of one that died or got a signal)"].map { |text| "generation #{text}" }
    assert(eventually(seen: -> { totals.notes(:deploy) }) { totals.notes(:deploy) == deploys })
    assert_operator totals.look[:gc_runs], :>=, 2, "a worker that has ended has told its collections"
    assert_operator totals.look[:gc_time], :>=, 2
    assert_equal [2, 1, 1], totals.look.values_at("deploy succeeded", "deploy rolled_back", "ended killed")
    ends = totals.notes(:end)
    assert_match(/worker \d g1 \(pid \d+\): killed by SIGKILL/, ends.first)
    assert_equal 1, ends.count("generation 1 (2 workers) ends: another generation serves"), ends.inspect
  end
end
