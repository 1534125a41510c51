# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# A change of restart_file starts a new generation: a master with its workers. The former generation serves until the
# next generation is ready (docs/DEPLOYS.md).
class ProcessGenerationsTest < Support::TestCase
  include ProcessTree

  # While there is a file "bad", only the first worker can start. The supervisor checks the restart_file every 20 ms.
  BAD = <<~RUBY
    after_worker_ready do |worker|
      $stderr.puts "worker \#{worker.number} hangs" if worker.number > 1
      sleep 0.01 while File.exist?("bad") && worker.number > 1
    end
    require "bontebok/processes/restart_file"
    Bontebok::RestartFile.singleton_class.prepend(Module.new do
      def watch(path, &block) = super(path, interval: 0.02, &block)
    end)
  RUBY

  def test_a_bad_generation_is_stopped_and_the_former_generation_serves
    server = start("--worker-boot-timeout", "3s")
    former = workers(server)
    temp_file("bad")
    change_restart_file
    await_hanging(server)
    server.wait_for_output(/master \(pid \d+\) did not get all of its workers ready within 3\.0 s: it is stopped/)
    server.wait_for_output(/master \(pid \d+\) has left/)
    assert_equal former, workers(server)
    assert_equal 200, server.get.status
  end

  def test_without_a_limit_the_former_generation_serves_until_the_next_generation_is_ready
    server = start("--worker-boot-timeout", "0")
    former = workers(server)
    temp_file("bad")
    change_restart_file
    await_hanging(server)
    assert_equal former, workers(server)
    server.signal("TTOU")
    server.wait_for_output(/ 2 workers$/) # two signals at once may be merged, or handled together
    server.signal("TTOU")
    wait_for_next_generation(server, former, 1)
    assert_equal workers(server).join, server.get.body
  end

  def test_a_second_change_replaces_a_generation_that_is_not_ready
    server = start("--worker-boot-timeout", "0")
    former = workers(server)
    temp_file("bad")
    change_restart_file
    await_hanging(server)
    File.unlink(temp_file("bad"))
    change_restart_file
    wait_for_next_generation(server, former)
    server.wait_for_output(/w1 g3 ready after/)
    assert_empty workers(server) & former
  end

  def test_a_stop_while_the_next_generation_loads_ends_both_generations
    %w[TERM INT].each do |signal|
      server = start("--worker-boot-timeout", "0")
      temp_file("bad")
      change_restart_file
      await_hanging(server)
      assert_equal 0, server.stop(signal).exitstatus
      refute_match(/killed/, server.output.text)
      File.unlink(temp_file("bad"))
    end
  end

  # worker_boot_timeout limits the next generation only while the former master lives. If the former master has died,
  # only the next master can start workers, so the next master is not stopped.
  def test_the_next_generation_has_no_limit_after_the_former_master_has_died
    server = start("--worker-boot-timeout", "10s")
    former = [master(server).pid, *workers(server)]
    temp_file("bad")
    change_restart_file
    await_hanging(server)
    Process.kill("KILL", former.first)
    eventually { gone?(former.first) }
    File.unlink(temp_file("bad"))
    wait_for_next_generation(server, former)
    refute_match(/did not get all/, server.output.text)
  end

  private

  def start(*args)
    temp_file("restart.txt")
    temp_file("hooks.rb", BAD)
    args += %w[-c hooks.rb -w 3 --restart-file restart.txt --err-respawn-interval 200ms]
    server = start_bontebok(args: args, rackup: GATED_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    server
  end

  def change_restart_file
    @changes = @changes.to_i + 1
    File.utime(@changes, @changes, temp_file("restart.txt"))
  end

  # Waits until the workers of the next generation have been started.
  def await_hanging(server)
    server.wait_for_output(/(?:.*worker \d hangs){4}/m)
  end

  # Waits until the former processes have ended and there are `count` new workers.
  def wait_for_next_generation(server, former, count = 3)
    eventually("the next generation", seen: -> { server.output.text }) { former.all? { |pid| gone?(pid) } }
    wait_for_workers(server, count)
  end
end
