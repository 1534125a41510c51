# frozen_string_literal: true

require "test_helper"
require_relative "support/mixed_versions"

# Servers whose supervisor has one version of Bontebok, and whose masters have another one, in both directions. The
# former version is that of Support::FormerVersion. A deploy tool changes the link in which the server runs.
class VersionsMixTest < Support::TestCase
  include Interop::MixedVersions

  # /gate waits until the file "go" exists. Another request gets the name of the release.
  GATED = <<~'RUBY'
    directory = File.expand_path("../..", Dir.pwd)
    number = File.basename(Dir.pwd)
    run(lambda do |env|
      if env["PATH_INFO"] == "/gate"
        File.write("#{directory}/waits", "")
        sleep 0.01 until File.exist?("#{directory}/go")
      end
      [200, {}, ["release #{number}"]]
    end)
  RUBY

  PAIRS.each do |name, (first, second)|
    define_method("test_a_#{name}_supervisor_has_a_master_of_the_other_version") do
      start_under_load(first)
      deploy_release(second, 2)
      assert_orders(2)
      roll_back(first, 1)
      assert_orders(1)
      roll_back(second, 2)
      fail_deploys(second)
      roll_back(first, 1)
      roll_back(second, 2)
      kill_master(second) # its place is taken by generation 5
      deploy_release(first, 6)
      roll_back(second, 5)
      assert_ends_well
    end

    define_method("test_a_#{name}_supervisor_is_replaced_while_a_master_of_its_version_serves") do
      start_under_load(first)
      replace_supervisor(second)
      assert_orders(1)
      fail_deploys(first)
      deploy_release(second, 4)
      roll_back(first, 1)
      kill_master(first)
      assert_orders(5)
      replace_supervisor(first)
      deploy_release(second, 6)
      roll_back(first, 5)
      assert_ends_well
    end

    define_method("test_a_#{name}_supervisor_is_replaced_while_a_master_of_the_other_version_serves") do
      start_under_load(first)
      deploy_release(second, 2)
      replace_supervisor(second)
      assert_command 1, /no former generation is kept/, "rollback"
      assert_orders(2)
      kill_master(second)
      fail_deploys(second)
      deploy_release(first, 6)
      roll_back(second, 3)
      replace_supervisor(first)
      assert_orders(3)
      replace_supervisor(second)
      deploy_release(first, 7)
      assert_ends_well
    end

    # The supervisor that takes the place waits for a generation that the former one has told to end, and its masters
    # go on to tell load balancers that the server drains.
    define_method("test_a_#{name}_supervisor_is_replaced_while_a_generation_leaves") do
      start_release(first, app: { "config.ru" => GATED })
      @server.connect do |client|
        client.request("GET", "/gate")
        eventually("the request in the application") { File.exist?("#{temp_dir}/waits") }
        lead_to(second)
        assert_command 0, "generation 2 serves\n", "deploy", "--wait"
        wait_for_workers(@server, 3) # one of them has the request
        assert_readiness 503, "drain"
        replace_supervisor(second)
        temp_file("go")
        assert_equal "release #{first}", client.read_response.body
      end
      @server.wait_for_output(/master \(pid \d+\) has left: exit status 0/)
      assert_version second, master.pid
      lead_to(first)
      assert_command 0, "generation 3 serves\n", "deploy", "--wait"
      assert_equal 503, @server.get("/ready").status
      assert_readiness 200, "resume"
      assert_ends_well
    end

    # The trial has succeeded. The former program is executed again.
    define_method("test_a_#{name}_supervisor_comes_back_if_the_other_version_fails") do
      start_under_load(first)
      deploy_release(second, 2)
      change_lib(second, "processes/supervisor/state.rb", /def masters\n/, "\\0raise 'too late'\n")
      assert_command 1, "bontebok: the new program has failed: too late\n", "deploy", "--supervisor"
      assert_version first, @server.pid
      assert_orders(2)
      deploy_release(first, 3)
      assert_ends_well(/the new program has failed: too late/)
    end

    define_method("test_a_#{name}_supervisor_tries_the_other_version_step_by_step") do
      start_release(first, "--deploy-surge", "1")
      begin_load(first)
      deploy_release(second, 2)
      @load.stop
      lead_to(first)
      assert_good_canary(3)
      lead_to(second)
      assert_canary_that_is_lost(4)
      assert_version first, master.pid
      assert_ends_well(/has lost a worker, which has ended by itself: it is stopped/,
                       /worker \(pid \d+\) ended: killed/)
    end

    # The process executes the command in its own place, and passes its listeners.
    define_method("test_one_process_of_the_#{name}_version_is_deployed") do
      start_release(first, "-w", "0", "-t", "1")
      begin_load(first)
      [second, first].each do |number|
        lead_to(number)
        @load.change_to(number) { @server.signal("USR2") }
        assert_version number, @server.pid
      end
      assert_ends_well
    end
  end

  private

  def start_under_load(number)
    start_release(number, "--keep-former", "10m")
    begin_load(number)
  end

  # A canary needs 200 requests.
  def assert_good_canary(generation)
    bench = start_process(RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, "bench", "-c", "4", "--rate", "1000",
                          "-d", "60", "--close", "unix:#{temp_dir}/bontebok.sock:/")
    assert_command 0, /^generation #{generation}: 1 of 2 workers .*^canary +1 .*^generation #{generation} serves$/m,
                   "deploy", "--canary", "1", "--for", "2s"
    bench.signal("INT")
    bench.wait
    refute_match(/refused|reset|short|timeout/, bench.output.text)
  end

  # The master tells the supervisor that the worker has ended.
  def assert_canary_that_is_lost(generation)
    former = wait_for_workers(@server, 2)
    command = start_command("deploy", "--canary", "1", "--for", "10m")
    command.wait_for_output(/^generation #{generation}: 1 of 2 workers serve beside the former ones$/)
    Process.kill("KILL", (workers - former).first)
    assert_equal 4, command.wait.exitstatus
    assert_match(/^bontebok: the new master has lost a worker/, command.output.text)
    assert_equal former, wait_for_workers(@server, 2)
  end
end
