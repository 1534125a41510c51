# frozen_string_literal: true

require "test_helper"
require "time"
require_relative "../support/control_case"

# A new generation must serve for err_respawn_interval before the former one leaves. If a new worker or the new master
# ends by itself before, the former generation stays. If the present master dies, the new generation serves alone.
class ProbationTest < Support::TestCase
  include ControlCase

  # The worker ends when the gate is opened.
  MORTAL = "after_worker_ready { Thread.new { File.read('%s') && exit!(3) } }"

  def test_a_worker_that_ends_soon_after_it_was_ready_fails_the_deploy
    server = start("--err-respawn-interval", "10m")
    former = workers(server)
    make_gate
    release(2, "config/bontebok.rb" => format(MORTAL, gate))
    deploy = start_command("deploy", "--wait")
    2.times { |index| server.wait_for_output(/w#{index + 1} g2 ready/) }
    open_gate
    assert_equal 1, deploy.wait.exitstatus
    assert_match(/warn .* worker \d .* ended: exit status 3, /, deploy.output.text)
    assert_match(/^bontebok: the new master has lost a worker, which has ended by itself$/, deploy.output.text)
    server.wait_for_output(/the present master continues/)
    eventually("one master") { Support::ProcessTable.children(server.pid).size == 1 }
    assert_equal former, workers(server)
    assert_serves 1, server
  end

  def test_a_master_that_ends_soon_after_it_was_ready_fails_the_deploy
    server = start("--err-respawn-interval", "10m")
    former = workers(server)
    release(2)
    deploy = start_command("deploy", "--wait")
    2.times { |index| server.wait_for_output(/w#{index + 1} g2 ready/) }
    Process.kill("KILL", Support::ProcessTable.children(server.pid).last.pid)
    assert_equal 1, deploy.wait.exitstatus
    assert_match(/^bontebok: the new master has ended: killed by SIGKILL$/, deploy.output.text)
    eventually("one generation") { workers(server) == former }
    eventually("release 1") { server.get.body.start_with?("release 1") }
  end

  # At its end, Ruby closes all descriptors. After that, exit handlers of C libraries can take long.
  def test_a_master_that_ends_slowly_has_failed_and_is_not_tried_again
    server = start
    make_gate
    release(2, "config.ru" => <<~RUBY)
      at_exit do
        ObjectSpace.each_object(IO) do |io|
          io.close unless [STDIN, STDOUT, STDERR].include?(io)
        rescue IOError
          nil
        end
        File.read("#{gate}")
      end
      raise "bad code"
    RUBY
    assert_command 1, /bad code \(RuntimeError\).*^bontebok: the new master has failed before it was ready$/m,
                   "deploy", "--wait"
    assert_equal 2, Support::ProcessTable.children(server.pid).size
    release(3)
    open_gate
    server.wait_for_output(/master \(pid \d+\) has left: exit status 1$/)
    assert_command 0, "generation 3 serves\n", "deploy", "--wait"
  end

  def test_a_generation_that_serves_for_the_time_replaces_the_former_one
    server = start("--err-respawn-interval", "500ms")
    former = workers(server)
    release(2)
    assert_command 0, "generation 2 serves\n", "deploy", "--wait"
    wait_for_workers(server, 2, without: former)
    ready, left = [/w\d g2 ready/, /w\d g1 ends/].map { |line| time_of(server.output.text.lines.grep(line).first) }
    assert_operator left - ready, :>=, 0.4
  end

  def test_the_next_deploy_can_use_the_new_addresses_of_one_that_has_failed
    deploy_new_address_twice do |deploy|
      Support::Client.open(Support::Address.new("unix:#{temp_dir}/new.sock")) do |client|
        client.request("GET", "/end")
        client.wait_for_end
      end
      assert_equal 1, deploy.wait.exitstatus
      start_command("deploy", "--wait")
    end
  end

  def test_the_next_deploy_can_use_the_new_addresses_of_one_that_it_replaces
    deploy_new_address_twice { start_command("deploy", "--wait", "--supersede") }
  end

  def test_a_superseded_surge_goes_on_and_loses_no_workers_if_the_present_master_has_died
    make_gate
    server = supersede("config.ru" => "File.read('#{gate}')\n#{APP}", "config/bontebok.rb" => surging)
    open_gate(second)
    server.wait_for_output(/w3 g2 ready/)
    former = wait_for_workers(server, 3)
    open_gate
    server.wait_for_output(/g3 2 workers/)
    Process.kill("KILL", Support::ProcessTable.children(server.pid).last.pid)
    wait_for_one_master(2, server)
    assert_equal former, workers(server)
  end

  def test_a_worker_that_ends_does_not_end_a_generation_that_serves_alone
    server = lose_present_master
    worker = Support::ProcessTable.children(Support::ProcessTable.children(server.pid).last.pid).first
    Process.kill("KILL", worker.pid)
    server.wait_for_output(/worker 1 \(pid #{worker.pid}\) .*killed by SIGKILL/)
    open_gate(second)
    wait_for_one_master(2, server)
  end

  def test_a_superseded_generation_is_not_kept
    server = supersede("config/bontebok.rb" => "keep_former '10m'")
    wait_for_one_master(3, server)
    assert_nil status["former"]
  end

  private

  # Release 2 and release 3 have the same new address. The block ends the deploy of release 2 and deploys release 3
  # while a worker of release 2 is in a request.
  def deploy_new_address_twice
    listen = "max_workers 2\nlisten 'unix:#{temp_dir}/bontebok.sock'"
    server = start_current("--control", control, "--err-respawn-interval", "10m", "--graceful-timeout", "10m",
                           "-t", "1", listen: ["-c", temp_file("shared.rb", listen)])
    temp_file("shared.rb", "#{listen}, 'unix:#{temp_dir}/new.sock'")
    make_gate
    release(2, "config.ru" => "run ->(env) { env['PATH_INFO'] == '/end' and exit!(3)\n" \
                              "[200, {}, [File.read('#{gate}')]] }")
    deploy = start_command("deploy", "--wait")
    2.times { |index| server.wait_for_output(/w#{index + 1} g2 ready/) }
    request = Thread.new { get("new.sock").body }
    File.open(gate, "w") do |file|
      release(3)
      yield(deploy)
      2.times { |index| server.wait_for_output(/w#{index + 1} g3 ready/) }
      assert_match(/release 3/, get("new.sock").body)
      file.write("whole")
    end
    assert_equal "whole", request.value
  end

  # Starts a server with three workers, and kills its master when release 2 has one worker.
  def lose_present_master
    File.mkfifo(second)
    server = start("-w", "3", "--deploy-surge", "1")
    release(2, "config/bontebok.rb" => surging)
    server.signal("USR2")
    server.wait_for_output(/g2 2 workers/)
    Process.kill("KILL", master(server).pid)
    server.wait_for_output(/adopts the workers/)
    server
  end

  # Then release 3 supersedes release 2. files: see #release.
  def supersede(files)
    server = lose_present_master
    release(3, files)
    assert_command 0, /a new master is executed/, "deploy", "--supersede"
    server
  end

  # The second worker waits until the gate `second` is opened.
  def surging = "after_fork { |worker| worker.number == 2 && File.read('#{second}') }"

  def second = "#{temp_dir}/second"

  def wait_for_one_master(generation, server)
    eventually("generation #{generation}", seen: -> { status }) do
      status.values_at("state", "generation") == ["serving", generation]
    end
    eventually("one master") { Support::ProcessTable.children(server.pid).size == 1 }
    assert_equal 3, status["workers"]
    assert_serves generation, server
  end

  def time_of(line)
    Time.iso8601(line[/\S+Z/])
  end
end
