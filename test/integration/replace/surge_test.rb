# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"
require_relative "../support/releases"

# With deploy_surge, a deploy starts a few workers at a time, and as many old workers leave.
class SurgeTest < Support::TestCase
  include ProcessTree
  include Releases

  def test_a_few_workers_are_replaced_at_a_time
    release(1)
    server = start("-w", "4", "--deploy-surge", "1")
    former = workers(server)
    release(2)
    deploy(server)
    assert_equal 4, wait_for_workers(server, 4, without: former).size
    assert_serves 2, server
    assert_equal %w[w1 w2 w3 w4].flat_map { |name| ["#{name} g2 started", "#{name} g2 ready"] },
                 server.output.text.scan(/w\d g2 (?:started|ready)/)
  end

  def test_the_surge_does_not_divide_the_number_of_workers
    release(1)
    server = start("-w", "3", "--deploy-surge", "2", "--keep-former", "10m")
    former = workers(server)
    release(2)
    server.signal("USR2")
    server.wait_for_output(/stays loaded.*/m)
    eventually("3 workers") { next_workers(server).size == 3 }
    assert_empty former & next_workers(server)
    assert_serves 2, server
  end

  def test_a_step_that_fails_gives_the_former_generation_its_workers_back
    release(1)
    server = start("-w", "3", "--deploy-surge", "1")
    { "raise 'bad worker' if worker.number == 2" => /worker 2 has ended before it was ready, twice in a row/,
      "Process.kill('KILL', Process.ppid) if worker.number == 3" => /ended before it was ready: killed by SIGKILL/ }
      .each_with_index do |(code, message), index|
        release(index + 2, "config/bontebok.rb" => "after_fork { |worker| #{code} }\nerr_respawn_interval '10s'")
        server.signal("USR2")
        server.wait_for_output(/#{message}.*the deploy has failed/m)
        wait_for_workers(server, 3)
        eventually("release 1 alone") { Support::ProcessTable.children(server.pid).size == 1 }
      end
    assert_serves 1, server
  end

  def test_a_superseded_step_gives_the_former_generation_its_workers_back
    release(1)
    server = start("-w", "3", "--deploy-surge", "1")
    hang = "after_fork { |worker| sleep if worker.number == 3 }"
    release(2, "config/bontebok.rb" => hang)
    server.signal("USR2")
    server.wait_for_output(/w2 g2 ready/)
    release(3, "config.ru" => "raise 'bad code'")
    server.signal("USR2")
    server.wait_for_output(/bad code.*the deploy has failed/m)
    eventually("release 1 alone") { Support::ProcessTable.children(server.pid).size == 1 }
    wait_for_workers(server, 3)
    assert_serves 1, server
  end

  def test_a_worker_that_a_signal_adds_during_a_deploy_is_added_once
    release(1)
    server = start("-w", "1")
    release(2, "config/bontebok.rb" => "sleep 0.01 until File.exist?('#{temp_dir}/go')")
    server.signal("USR2")
    server.wait_for_output(/a new master is executed/)
    server.signal("TTIN")
    server.wait_for_output(/ 2 workers$/)
    temp_file("go")
    server.wait_for_output(/master \(pid \d+\) has left/)
    assert_equal 2, wait_for_workers(server, 2).size
    assert_serves 2, server
    assert_equal 2, workers(server).size
  end

  private

  def start(*args)
    start_current(*args)
  end

  # With keep_former, the former master is the older child.
  def next_workers(server)
    children = Support::ProcessTable.children(server.pid)
    Support::ProcessTable.children(children.last.pid).map(&:pid)
  end
end
