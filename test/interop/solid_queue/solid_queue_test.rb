# frozen_string_literal: true

require "test_helper"
require_relative "support/jobs_app"

# Solid Queue beside the workers of a Rails application: each job runs once, whatever happens to the server.
class SolidQueueTest < Support::TestCase
  # Every tenth change is a deploy, which loads the application. The others are rollbacks.
  CHANGES = Support::Length.of(5, 50)
  COUNT = 5

  def setup
    @directory = Interop::JobsApp.prepare
    @enqueued = 0
    temp_file("notes")
    @server = start_bontebok(directory: @directory, listen: :tcp, env: environment, args: [
                               "-w", 1, "-t", 2, "--control", "#{temp_dir}/control", "--keep-former", "10m",
                               "--err-respawn-interval", "100ms", "config.ru"
                             ])
    @server.wait_for_output(/jobs \(pid \d+\) run beside the workers/)
  end

  def test_each_job_runs_once_across_deploys_and_rollbacks
    enqueue_meanwhile do
      CHANGES.times do |index|
        assert_command(0, (index % 10).zero? ? "deploy" : "rollback", "--wait")
      end
      temp_file("break")
      assert_command(1, "deploy", "--wait")
    end
    assert_all_have_run_once
    assert_operator groups.size, :>, 1
    assert_equal 0, @server.stop.exitstatus
    refute_match(/ did not end in time: killed/, @server.output.text)
  end

  def test_each_job_runs_once_although_processes_are_killed
    enqueue_meanwhile do
      leader = wait_for_jobs
      Process.kill("KILL", leader)
      second = wait_for_jobs(leader)
      Process.kill("KILL", Support::ProcessTable.children(@server.pid).first.pid)
      wait_for_jobs(leader, second)
      assert(eventually("the end of #{leader} and #{second}") { [leader, second].all? { |group| empty?(group) } })
    end
    assert_all_have_run_once
  end

  def test_all_processes_end_with_the_supervisor
    leader = wait_for_jobs
    enqueue
    assert_all_have_run_once
    Process.kill("KILL", @server.pid)
    assert(eventually("the end of #{leader}") { empty?(leader) })
  end

  private

  def environment
    Interop::JobsApp.environment(temp_dir).merge("SOLID_QUEUE_IN_PUMA" => "true", "RACK_ENV" => "production",
                                                 "RAILS_ENV" => "production")
  end

  # Enqueues jobs while the block runs.
  def enqueue_meanwhile
    over = false
    thread = Thread.new do
      until over
        enqueue
        sleep(0.05)
      end
    end
    yield
  ensure
    over = true
    thread.join
  end

  def enqueue
    response = @server.get("/jobs?first=#{@enqueued}&count=#{COUNT}", { "Host" => "localhost" })
    assert_equal "enqueued", response.body
    @enqueued += COUNT
  end

  # The lines that the jobs have written, by their numbers.
  def notes = File.readlines("#{temp_dir}/notes", chomp: true).group_by(&:to_i)

  def groups = notes.values.flatten.map { |line| line.split[1] }.uniq

  def assert_all_have_run_once
    wanted = (0...@enqueued).to_a
    missing = nil
    eventually("all jobs", seen: -> { ["missing: #{missing}", @server.output.text] }) do
      (missing = wanted - notes.keys).empty?
    end
    twice = notes.values.reject(&:one?)
    assert_empty twice, -> { [twice, @server.output.text].join("\n") }
  end

  # Waits until another supervisor of Solid Queue runs jobs. Returns its pid.
  def wait_for_jobs(*others)
    eventually("jobs other than #{others}", seen: -> { [@server.output.text] }) do
      _, pid, rest = @server.output.text.rpartition(/(?<=jobs \(pid )\d+(?=\) run beside)/)
      pid.to_i if !others.include?(pid.to_i) && rest.include?("Started Worker")
    end
  end

  def empty?(group) = Support::ProcessTable.group(group).empty?

  def assert_command(status, *args)
    child = Support::ChildProcess.run(RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, *args, "--control",
                                      "#{temp_dir}/control", chdir: @directory)
    assert_equal status, child.status.exitstatus, [child.output.text, @server.output.text].join
  end
end
