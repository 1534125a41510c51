# frozen_string_literal: true

require "test_helper"
require_relative "../support/control_case"

# While a former generation serves, the workers of a new one begin to serve together (docs/DEPLOYS.md). So a release
# whose workers fail serves no request.
class ProcessTogetherTest < Support::TestCase
  include ControlCase

  # The hooks of a release: the first worker tells that it is ready, and the second one waits at the gate.
  HALF = <<~RUBY
    after_worker_ready do |worker|
      File.read("%s") if worker.number == 2
      $stderr.puts("worker \#{worker.number} is prepared")
    end
  RUBY

  def test_no_worker_serves_before_all_are_ready
    server = start("-w", "2")
    deploy_half(server)
    assert_equal [1], releases(server, 100)
    open_gate
    server.wait_for_output(/worker 2 is prepared.*w\d g2 ready.*w\d g2 ready/m)
    refute_match(/w\d g2 ready.*worker 2 is prepared/m, server.output.text)
    assert_serves 2, server
  end

  # The workers of the dead master serve, and each new worker helps them.
  def test_each_worker_serves_when_it_is_ready_if_the_former_master_has_died
    server = start("-w", "2")
    deploy_half(server)
    Process.kill("KILL", master(server).pid)
    server.wait_for_output(/w1 g2 ready/)
    eventually("release 2") { releases(server, 5).include?(2) }
    open_gate
    server.wait_for_output(/w2 g2 ready/)
    assert_serves 2, server
  end

  def test_a_worker_that_fails_twice_ends_the_deploy_with_its_error
    server = start("-w", "2", "--worker-boot-timeout", "0")
    former = workers(server)
    release(2, "config/bontebok.rb" => "after_fork { |worker| raise 'bad worker' if worker.number == 2 }\n")
    command = run_command("deploy", "--wait")
    assert_equal 1, command.status.exitstatus
    [/bad worker \(RuntimeError\).*worker 2 has ended before it was ready, twice in a row$/m,
     /^bontebok: the new master did not get its workers ready$/].each do |text|
      assert_match text, command.output.text
    end
    refute_match(/ g2 ready/, server.output.text)
    eventually("release 1 alone") { Support::ProcessTable.children(server.pid).size == 1 }
    assert_equal former, workers(server)
  end

  # The present master dies twice, and the next one is started after a pause.
  def test_in_a_rollback_each_worker_serves_when_it_is_ready_if_no_other_generation_serves
    make_gate
    release(1, "config/bontebok.rb" => <<~RUBY)
      after_worker_ready { |worker| File.read("#{gate}") if worker.number == 2 && File.exist?("bad") }
    RUBY
    server = start("-w", "2", "--keep-former", "600s")
    release(2)
    assert_command 0, "generation 2 serves\n", "deploy", "--wait"
    assert_equal 1, status["former"]
    temp_file("releases/1/bad")
    assert_command 0, /starts workers/, "rollback"
    server.wait_for_output(/w1 g1 started.*w1 g1 started/m)
    assert_equal [2], releases(server, 20)
    Process.kill("KILL", Support::ProcessTable.children(server.pid).last.pid)
    eventually("release 1", seen: -> { server.output.text }) { releases(server, 5).include?(1) }
    open_gate
    assert_serves 1, server
  end

  private

  # Deploys release 2, and waits until only its second worker is missing.
  def deploy_half(server)
    make_gate
    release(2, "config/bontebok.rb" => format(HALF, gate))
    server.signal("USR2")
    server.wait_for_output(/worker 1 is prepared/)
  end

  # The releases that serve new connections.
  def releases(server, count)
    Array.new(count) { server.get.body[/release (\d)/, 1].to_i }.uniq
  end
end
