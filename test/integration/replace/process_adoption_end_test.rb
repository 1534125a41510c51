# frozen_string_literal: true

require "test_helper"
require_relative "../support/orphaned_workers"

# Workers of a master that has died. They end when the workers of the next master are ready, when the server stops, or
# when the supervisor dies.
class ProcessAdoptionEndTest < Support::TestCase
  include OrphanedWorkers

  def test_a_request_in_flight_is_finished
    make_gate
    server = start
    response = request_at_gate(server) do
      former = orphan_workers(server)
      release
      eventually { (former - living(former)).size == 1 }
    end
    assert_equal 200, response.status
    eventually { children_of(server).size == 1 }
  end

  def test_a_worker_that_does_not_finish_is_killed
    make_gate
    server = start("--graceful-timeout", "200ms")
    at_gate(server) do
      former = orphan_workers(server)
      release
      assert_left(server, former)
    end
    server.wait_for_output(/ error .* worker \(pid (\d+)\) did not end in time: killed$.*pid \1\) has left/m)
  end

  def test_a_stop_drains_the_workers_while_the_next_generation_loads
    make_gate
    server = start
    response = request_at_gate(server) do
      former = orphan_workers(server)
      server.signal("TERM")
      eventually { former.all? { |pid| Support::ProcessTable.entry(pid)&.command.to_s.include?("draining") } }
      refute_path_exists File.join(temp_dir, "bontebok.sock")
    end
    assert_equal 200, response.status
    assert_equal 0, server.wait.exitstatus
    server.wait_for_group
    refute_match(/killed$/, server.output.text)
  end

  def test_int_ends_the_workers_at_once_and_a_second_int_kills_them
    make_gate
    2.times do |stopped|
      server = start
      at_gate(server) do
        former = orphan_workers(server)
        stop_process(former.first) if stopped == 1
        server.signal("INT")
        server.wait_for_output(/stopping at once/)
        server.signal("INT") if stopped == 1
        server.wait_for_output(/stopping with SIGKILL/) if stopped == 1
        assert_equal 0, server.wait.exitstatus
        server.wait_for_group
      end
      release
    end
  end

  def test_a_stop_kills_a_worker_that_does_not_finish
    server = start("--graceful-timeout", "200ms")
    former = orphan_workers(server)
    former.each { |pid| stop_process(pid) }
    assert_equal 0, server.stop("TERM").exitstatus
    former.each { |pid| server.wait_for_output(/worker \(pid #{pid}\) did not end in time: killed$/) }
  end

  def test_the_workers_leave_when_the_supervisor_dies_too
    make_gate
    server = start
    at_gate(server) do |client|
      orphan_workers(server)
      server.signal("KILL")
      server.wait_for_output(/leaves: the master is gone|its supervisor is gone/)
      open_gate
      assert_equal 200, client.read_response.status
    end
    server.wait_for_group
  end
end
