# frozen_string_literal: true

require "test_helper"
require_relative "../support/control_case"

# With keep_former, the former master stays loaded after a deploy. `bontebok rollback` lets it serve again.
class RollbackTest < Support::TestCase
  include ControlCase

  def test_the_former_release_serves_again_and_again
    server = start
    release(2)
    deploy_and_keep(server)
    assert_serves 2, server
    remove_release(1)
    assert_command 0, "generation 1 serves again\n", "rollback", "--wait"
    assert_serves 1, server
    assert_command 0, "generation 2 serves again\n", "rollback", "--wait"
    assert_serves 2, server
    assert_equal 2, Support::ProcessTable.children(server.pid).size
    release(3)
    deploy(server) # the kept master ends
    assert_equal 0, server.stop.exitstatus
    refute_match(/ error | warn /, server.output.text)
  end

  def test_the_configuration_of_the_former_release_takes_effect_again
    temp_file("shared.rb", "keep_former 600\nmax_workers 1\nlisten 'unix:#{temp_dir}/bontebok.sock'\n")
    server = start(config: "shared.rb")
    temp_file("shared.rb", "keep_former 600\nmax_workers 1\nlisten 'unix:#{temp_dir}/bontebok.sock', " \
                           "'unix:#{temp_dir}/new.sock'\n")
    release(2)
    deploy_and_keep(server)
    assert_match(/release 2/, get("new.sock").body)
    assert_command 0, "generation 1 serves again\n", "rollback", "--wait"
    refute_path_exists "#{temp_dir}/new.sock"
    assert(eventually("release 1") { get("bontebok.sock").body.start_with?("release 1,") })
    # The release with the closed address is not kept.
    assert_command 1, "bontebok: no former generation is kept (see keep_former)\n", "rollback"
  end

  # deploy_surge takes workers from the former master, and the number can change after the deploy.
  def test_the_former_release_gets_its_number_of_workers
    server = start("-w", "3", "--deploy-surge", "2")
    release(2)
    deploy_and_keep(server)
    assert_command 0, "1 worker\n", "workers", "1"
    assert_command 0, "generation 1 serves again\n", "rollback", "--wait"
    eventually("3 workers") { Support::ProcessTable.children(master(server).pid).size == 3 }
    assert_command 0, "2 workers\n", "workers", "2"
    eventually("2 workers") { Support::ProcessTable.children(master(server).pid).size == 2 }
    release(3, "config.ru" => "raise 'bad code'")
    assert_command 1, /bad code/, "deploy", "--wait"
    assert_command 1, /no former generation .*; with deploy_surge, it ends when the next deploy begins/, "rollback"
  end

  def test_a_kept_master_ignores_signals_and_is_not_missed
    server = start
    former = master(server).pid
    release(2)
    deploy_and_keep(server)
    Process.kill("TERM", former)
    release(3, "config.ru" => "raise 'bad code'")
    assert_command 1, /bad code/, "deploy", "--wait" # this does not end the kept master
    assert_command 0, "generation 1 serves again\n", "rollback", "--wait"
    assert_serves 1, server
    refute_match(/wants to be replaced/, server.output.text)
    kept = (Support::ProcessTable.children(server.pid).map(&:pid) - [former]).first
    Process.kill("KILL", kept)
    server.wait_for_output(/master \(pid #{kept}\) has left: killed by SIGKILL/)
    assert_command 1, /no former generation is kept/, "rollback", "--wait"
    assert_serves 1, server
  end

  def test_the_former_master_leaves_after_the_time
    server = start("--keep-former", "200ms")
    release(2)
    server.signal("USR2")
    server.wait_for_output(/stays loaded for 0.2 s.*master \(pid \d+\) has left: exit status 0/m)
    assert_command 1, /no former generation is kept/, "rollback"
  end

  def test_a_rollback_that_fails_leaves_the_present_release_in_service
    hooks = "after_fork { exit!(7) if File.exist?('#{temp_dir}/bad') }\nafter_stopped { puts 'hook after_stopped' }\n"
    release(1, "config/bontebok.rb" => hooks)
    server = start
    release(2)
    deploy_and_keep(server)
    temp_file("bad")
    assert_command 1, "bontebok: the former master did not get its workers ready\n", "rollback", "--wait"
    assert_serves 2, server
    server.wait_for_output(/hook after_stopped\n/)
  end

  # Its database is down, for example. The worker of a dead master serves until the former release does.
  def test_the_former_release_serves_again_while_another_one_hangs_at_its_start
    server = start
    first = master(server).pid
    release(2)
    deploy_and_keep(server)
    make_gate
    release(3, "config.ru" => "File.read('#{gate}')")
    assert_command 0, /a new master is executed/, "deploy"
    File.open(gate, "w") do # the master loads
      assert_command 3, /busy: a master starts already; --supersede replaces it/, "rollback", "--wait"
      assert_command 0, "generation 1 serves again\n", "rollback", "--wait", "--supersede"
    end
    assert_serves 1, server
    Process.kill("KILL", first)
    File.open(gate, "w") do
      assert_serves 1, server
      assert_command 0, "generation 2 serves again\n", "rollback", "--wait"
    end
    assert_serves 2, server
    eventually("one master") { Support::ProcessTable.children(server.pid).size == 1 }
  end

  # A worker of the former release still finishes a request from before the deploy.
  def test_a_rollback_that_fails_does_not_cut_a_request
    make_gate
    release(1, "config.ru" => "run ->(_) { [200, {}, [File.read('#{gate}')]] }\n",
               "config/bontebok.rb" => "after_fork { exit!(7) if File.exist?('#{temp_dir}/bad') }\n")
    server = start
    server.connect do |client|
      client.request("GET", "/")
      File.open(gate, "w") do |file|
        release(2)
        deploy_and_keep(server)
        temp_file("bad")
        assert_command 1, /did not get its workers ready/, "rollback", "--wait"
        assert_serves 2, server
        release(3)
        assert_command 0, "generation 3 serves\n", "deploy", "--wait"
        file.write("whole")
      end
      assert_equal "whole", client.read_response.body
    end
    server.wait_for_output(/the deploy has failed: the present master continues/)
  end

  # The former master starts as many workers as it had.
  def test_the_number_of_workers_does_not_change_during_a_rollback
    release(1, "config/bontebok.rb" => "after_fork { File.read('#{gate}') if File.exist?('#{gate}') }\n")
    server = start
    release(2)
    deploy_and_keep(server)
    make_gate
    assert_command 0, /starts workers/, "rollback"
    assert_command 3, /busy: the former master starts workers/, "workers", "+1"
    server.signal("TTIN") # for the present master
    server.wait_for_output(/ 2 workers$/)
    File.open(gate, "w") { File.unlink(gate) } # for the worker that waits
    eventually("the end of the rollback") { run_command("workers", "+0").output.text == "1 worker\n" }
    eventually("1 worker") { Support::ProcessTable.children(master(server).pid).size == 1 }
    assert_serves 1, server
  end

  def test_a_stop_ends_the_kept_master
    %w[TERM INT].each do |signal|
      server = start
      release(2)
      deploy_and_keep(server)
      assert_equal 0, server.stop(signal).exitstatus
    end
  end

  private

  def start(*args, config: nil)
    args.unshift("--keep-former", "10m", "-w", "1") unless config
    listen = config ? ["-c", "#{temp_dir}/#{config}"] : ["-l", "unix:#{temp_dir}/bontebok.sock"]
    start_current("--control", control, *args, listen: listen)
  end

  def deploy_and_keep(server)
    server.signal("USR2")
    server.wait_for_output(/stays loaded for 600.0 s, without workers/)
  end
end
