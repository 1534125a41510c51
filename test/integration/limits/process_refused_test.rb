# frozen_string_literal: true

require "etc"
require "test_helper"
require_relative "../support/process_tree"

# While there is a file "full", the kernel rejects each new process, because RLIMIT_NPROC is reached. pids.max of a
# cgroup has the same effect. RLIMIT_NPROC does not apply to root, so a test that runs as root starts the server as
# another user.
class ProcessRefusedTest < Support::TestCase
  include ProcessTree

  REFUSAL = /cannot be started: the system refuses another process.* Resource temporarily unavailable \(EAGAIN\)$/
  LIMIT = <<~RUBY
    require "bontebok/processes/forked_process"
    Bontebok::ForkedProcess.singleton_class.prepend(Module.new do
      def fork(...)
        most = Process.getrlimit(:NPROC).last
        Process.setrlimit(:NPROC, File.exist?("full") ? 1 : most, most)
        super
      end
    end)
  RUBY
  # Runs the whole server as another user, if the test runs as root.
  UNDER = [RbConfig.ruby, "-e", <<~RUBY].freeze
    if Process.euid.zero?
      Process::Sys.setgid(#{Etc.getpwnam('nobody').gid})
      Process::Sys.setuid(#{Etc.getpwnam('nobody').uid})
    end
    exec(*ARGV)
  RUBY

  # Ruby 3.3.8 never ends this script.
  NO_THREAD = <<~RUBY
    Process.setrlimit(:NPROC, 0)
    Thread.new { nil } rescue nil
    sleep(0.01)
  RUBY

  def setup
    File.chmod(0o777, temp_dir)
    temp_file("limit.rb", LIMIT)
  end

  def test_a_first_start_fails_if_no_thread_can_be_created
    survives = system(*UNDER, "timeout", "-s", "KILL", "5", RbConfig.ruby, "-e", NO_THREAD)
    skip "this Ruby hangs if it cannot create a thread" unless survives

    full
    assert_start_fails(/ error .* can't create Thread: /, args: %w[--preload true] + user)
    temp_file("limit.rb", "Process.setrlimit(:NPROC, 1)\n")
    assert_start_fails(/no room for threads: /, args: %w[--restart-file restart.txt], under: UNDER)
  end

  def test_a_first_start_fails_if_no_process_can_be_forked
    full
    assert_start_fails REFUSAL, args: %w[--preload false] + user
    assert_start_fails REFUSAL, args: [], under: UNDER
  end

  def test_a_worker_that_ended_is_replaced_when_processes_can_be_forked_again
    server = start(args: user)
    former = workers(server)
    full
    former.each { |pid| Process.kill("KILL", pid) }
    server.wait_for_output(REFUSAL)
    server.wait_for_output(REFUSAL)
    free
    wait_for_workers(server, 2, without: former)
    assert_equal 200, server.get.status
  end

  def test_two_workers_that_cannot_be_started_cause_one_log_line
    server = start(args: [*user, "--err-respawn-interval", "10m"])
    full
    workers(server).each { |pid| Process.kill("KILL", pid) }
    server.wait_for_output(/ended: .* ended: /m)
    server.wait_for_output(REFUSAL)
    assert_equal 0, server.stop("TERM").exitstatus
    assert_equal 1, server.output.text.scan(REFUSAL).size
  end

  def test_hup_keeps_the_former_workers_while_no_worker_can_be_started
    %w[TERM INT].each do |signal|
      free
      server = start(args: user)
      former = workers(server)
      full
      server.signal("HUP")
      server.wait_for_output(REFUSAL)
      assert_equal former, workers(server)
      assert_includes former, server.get.body.to_i
      assert_equal 0, server.stop(signal).exitstatus
    end
  end

  def test_a_stop_works_while_no_master_can_be_started
    %w[TERM INT].each do |signal|
      free
      server = start(under: UNDER, args: [])
      full
      Process.kill("KILL", master(server).pid)
      server.wait_for_output(REFUSAL)
      assert_equal 0, server.stop(signal).exitstatus
    end
  end

  private

  # Asserts that the start fails without a pause, and that one line of the log has the reason.
  def assert_start_fails(reason, args:, **options)
    server = start(ready: false, args: [*args, "--err-respawn-interval", "10m"], **options)
    assert_equal 1, server.wait.exitstatus
    server.output.wait_for_end
    assert_equal 1, server.output.text.scan(reason).size, server.output.text
    refute_match(/listening|\.rb:/, server.output.text)
  end

  def start(args:, ready: true, **options)
    server = start_bontebok(ready: false, args: %w[-w 2 -c limit.rb] + args, rackup: GATED_APP, **options)
    server.wait_for_output(/ ready in \d+ ms$/) if ready
    server
  end

  def user
    Process.euid.zero? ? %w[--user nobody] : []
  end

  def full
    temp_file("full")
  end

  def free
    FileUtils.rm_f(temp_file("full"))
  end
end
