# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# Process titles, the umask, and starts in a container or without environment variables.
class ProcessAroundTest < Support::TestCase
  include ProcessTree

  UNSHARE = %w[unshare --pid --fork --kill-child --mount-proc].freeze

  def test_titles_tell_what_each_process_does
    make_gate
    server = start_bontebok(args: %w[-w 1 --tag shop], rackup: GATED_APP)
    worker = workers(server).first
    assert_equal ["bontebok supervisor", "bontebok master"], [title(server.pid), title(master(server).pid)]
    assert_title worker, "bontebok worker 1 gen 1 idle shop"
    server.connect do |client|
      client.request("GET", "/gate?secret=1")
      assert_title worker, "bontebok worker 1 gen 1 busy shop"
      server.signal("TERM")
      assert_title worker, "bontebok worker 1 gen 1 draining shop"
      open_gate
      client.read_response
    end
  end

  def test_a_title_has_the_generation_and_the_name_of_the_directory
    server = start_bontebok(args: %w[-w 1 --restart-file restart.txt], rackup: GATED_APP)
    former = workers(server)
    temp_file("restart.txt")
    server.wait_for_output(/ restart\.txt has changed: a new master is executed$.*master \(pid \d+\) has left/m)
    assert_title wait_for_workers(server, 1, without: former).first,
                 "bontebok worker 1 gen 2 idle #{File.basename(temp_dir)}"
  end

  def test_the_umask_applies_to_files_and_to_the_application
    %w[0 1].each do |workers|
      server = start_bontebok(args: ["-w", workers, "--umask", "0027", "--stdout", "out.log"], rackup: <<~RUBY)
        run ->(_) { [200, {}, [format("%04o", File.umask)]] }
      RUBY
      assert_equal ["0027", 0o640, 0o777], [server.get.body, mode("out.log"), mode("bontebok.sock")]
      server.stop
      File.unlink("#{temp_dir}/out.log")
    end
  end

  # In a container, only the first process reaps orphans. If the first process has no handler for a signal, the kernel
  # ignores the signal.
  def test_the_first_process_of_a_container_reaps_orphans_and_stops
    skip_without(UNSHARE)
    server = start_server(*UNSHARE, *command("-w", "2", "--pidfile", "a.pid"), rackup: <<~RUBY)
      run(lambda do |env|
        system("true &") if env["PATH_INFO"] == "/orphan"
        [200, {}, [Process.ppid.to_s, " ", Dir.children("/proc").grep(/\\A\\d+\\z/).join(",")]]
      end)
    RUBY
    server.wait_for_output(/ ready in /)
    assert_equal "1\n", File.read("#{temp_dir}/a.pid")
    20.times { assert_equal 200, server.get("/orphan").status }
    # These are the supervisor, the master and two workers. There is no zombie.
    assert(eventually { server.get.body.split.last.split(",").size == 4 })
    assert_equal 0, stop_container(server).exitstatus
    refute_path_exists "#{temp_dir}/a.pid"
  end

  # The container was killed, so its PID file is left with the pid 1. The new server has the pid 1, too.
  def test_a_stale_pid_file_of_a_container_does_not_stop_the_start
    skip_without(UNSHARE)
    temp_file("a.pid", "1\n")
    server = start_server(*UNSHARE, *command("-w", "1", "--pidfile", "a.pid"), rackup: GATED_APP)
    assert_equal 200, server.get.status
    stop_container(server)
  end

  def test_a_server_runs_without_an_environment
    temp_file("app/größe.rb", "# größe\nGREETING = 'grüße'\n")
    server = start_server("env", "-i", "LANG=C", *command("-w", "1"), rackup: <<~RUBY)
      require_relative "app/größe"
      run ->(env) { [200, { "content-type" => "text/plain" }, [GREETING, env["PATH_INFO"], ENV.keys.sort.join(" ")]] }
    RUBY
    assert_equal "grüße/%C3%A9LANG RACK_ENV".b, server.get("/%C3%A9").body.b
    assert_title workers(server).first, "bontebok worker 1 gen 1 idle #{File.basename(temp_dir)}"
    assert_equal 0, server.stop.exitstatus
    assert_match(/stopped$/, server.output.text)
  end

  private

  def command(*args)
    [RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, "-l", "unix:#{temp_dir}/bontebok.sock", *args]
  end

  def start_server(*argv, rackup:)
    rackup_file("config.ru", rackup)
    server = Support::ServerProcess.new(*argv, chdir: temp_dir)
    children << server
    server.wait_until_ready
  end

  # unshare itself does not react to TERM.
  def stop_container(server)
    Process.kill("TERM", Support::ProcessTable.children(server.pid).first.pid)
    server.wait
  end

  # If the kernel forbids the command, there is nothing to test.
  def skip_without(command)
    child = Support::ChildProcess.run(*command, "true")
    skip "not permitted here: #{child.output.text}" unless child.status.success?
  end

  def mode(name)
    File.stat("#{temp_dir}/#{name}").mode & 0o777
  end
end
