# frozen_string_literal: true

require "test_helper"
require_relative "../support/control_case"

# The jobs of Solid Queue beside the workers of the generation that serves. The applications have a stand-in for Solid
# Queue, whose supervisor forks one process. test/interop/solid_queue has the real one.
class CompanionsTest < Support::TestCase
  include ControlCase

  STAND_IN = <<~RUBY
    module SolidQueue
      def self.shutdown_timeout = 1

      class Supervisor
        def self.start
          reader, writer = IO.pipe
          %w[TERM INT QUIT].each { |name| trap(name) { writer.write(name[0]) } }
          forked = fork do
            trap("TERM") { exit!(0) unless File.exist?("../../stubborn") }
            loop { sleep }
          end
          reader.read(1)
          Process.kill("TERM", forked)
          Process.wait(forked)
        end
      end
    end
  RUBY
  APP = STAND_IN + Releases::APP
  BROKEN = "raise 'bad code'\n"
  JOBS = { "SOLID_QUEUE_IN_PUMA" => "true" }.freeze

  def setup
    release(1, "config.ru" => APP)
    FileUtils.mkdir("#{temp_dir}/tmp")
  end

  def test_jobs_run_where_requests_are_served
    server = start("--keep-former", "10m")
    first = wait_for_jobs(server)
    release(2, "config.ru" => BROKEN)
    assert_command 1, /bad code/, "deploy", "--wait"
    assert_equal first, jobs(server)
    release(3, "config.ru" => APP)
    assert_command 0, "generation 3 serves\n", "deploy", "--wait"
    second = wait_for_jobs(server, without: first)
    assert_command 0, "generation 1 serves again\n", "rollback", "--wait"
    third = wait_for_jobs(server, without: first + second)
    assert_equal [1, 1, 1], [first, second, third].map(&:size)
    assert_equal master_of(first: true, server: server), parent(third[0])
    assert_equal 0, server.stop.exitstatus
    assert_empty alive(first + second + third)
    refute_match(/ warn .*jobs/, server.output.text)
  end

  def test_a_canary_runs_no_jobs
    server = start
    first = wait_for_jobs(server)
    release(2, "config.ru" => APP)
    command = start_command("deploy", "--canary", "1", "--for", "600s")
    eventually("the canary") { Support::ProcessTable.children(server.pid).size == 2 && server.get.body[/release 2/] }
    assert_equal first, jobs(server)
    command.signal("TERM")
  end

  def test_the_process_has_no_descriptors_of_the_server_and_is_no_worker
    server = start
    pid, = wait_for_jobs(server)
    assert_empty Support::ProcessTable.sockets(pid)
    assert_equal pid, Process.getpgid(pid)
    assert_empty Support::ProcessTable.descriptors(pid).values.grep(/memfd/)
    text = run_command("status", "--json").output.text
    assert_match(/"pid": ?#{workers(server).first}\b/, text)
    refute_match(/"pid": ?#{pid}\b/, text)
  end

  def test_it_is_started_again_when_it_is_killed
    server = start
    pid, = wait_for_jobs(server)
    group = Support::ProcessTable.group(pid).map(&:pid)
    assert_equal 2, group.size
    Process.kill("KILL", pid)
    server.wait_for_output(/jobs \(pid #{pid}\) ended: killed by SIGKILL, .* started again in/)
    wait_for_jobs(server, without: [pid])
    assert_empty alive(group)
    assert_equal 0, server.stop.exitstatus
  end

  # The processes do not obey TERM.
  def test_all_of_its_processes_are_killed_with_the_master
    temp_file("stubborn")
    server = start("--graceful-timeout", "1s")
    pid, = wait_for_jobs(server)
    group = eventually { pids = Support::ProcessTable.group(pid).map(&:pid) and pids.size == 2 && pids }
    Process.kill("KILL", master(server).pid)
    wait_for_jobs(server, without: group)
    assert(eventually("the end of #{group}") { alive(group).empty? })
    File.delete("#{temp_dir}/stubborn")
  end

  def test_all_of_its_processes_end_with_the_supervisor
    server = start
    pid, = wait_for_jobs(server)
    group = Support::ProcessTable.group(pid).map(&:pid)
    Process.kill("KILL", server.pid)
    assert(eventually("the end of #{group}") { alive(group).empty? })
  end

  def test_another_supervisor_changes_nothing
    server = start
    first = wait_for_jobs(server)
    assert_command 0, /the supervisor runs/, "deploy", "--supervisor"
    assert_equal first, jobs(server)
    release(2, "config.ru" => APP)
    assert_command 0, "generation 2 serves\n", "deploy", "--wait"
    wait_for_jobs(server, without: first)
  end

  # A file for puma with one worker loads the application in the master, because of the plugin.
  def test_the_plugin_of_a_file_for_puma
    path = temp_file("releases/1/config/puma.rb", "plugin :solid_queue\nbind 'unix://#{temp_dir}/bontebok.sock'\n")
    server = start_current("--control", control, "-c", path, listen: [])
    assert_equal 1, wait_for_jobs(server).size
    refute_match(/ warn /, server.output.text)
  end

  def test_an_application_without_solid_queue_is_served
    release(1)
    server = start
    server.wait_for_output(/ error .* no jobs run: the application has not loaded solid_queue/)
    2.times { assert_serves 1, server }
    assert_equal 1, server.output.text.scan("no jobs run").size
  end

  def test_where_the_master_has_no_application_the_start_says_so
    { %w[--preload false] => "with preload false", %w[-w 0] => "without workers" }.each do |args, cause|
      server = start(*args)
      assert_match(/ warn .* no jobs of Solid Queue run #{cause}: run `bin.jobs` beside/, server.output.text)
      assert_serves 1, server, "leak .*"
      assert_empty jobs(server)
      server.stop
    end
  end

  private

  def start(*args) = start_current("-w", "2", "--control", control, *args, env: JOBS)

  def jobs(server)
    Support::ProcessTable.descendants(server.pid).select { |one| leads?(one) }.map(&:pid)
  end

  def leads?(process) = process.pid == process.group && process.command.start_with?("bontebok jobs")

  # Waits until one process runs, and none of the others.
  def wait_for_jobs(server, without: [])
    eventually("jobs other than #{without}", seen: -> { [server.output.text] }) do
      now = jobs(server)
      now if now.size == 1 && !now.intersect?(without)
    end
  end

  def parent(pid) = Support::ProcessTable.entry(pid)&.parent

  def master_of(server:, first:)
    masters = Support::ProcessTable.children(server.pid).map(&:pid)
    first ? masters.first : masters.last
  end

  def alive(pids) = pids.select { |pid| Support::ProcessTable.entry(pid) }
end
