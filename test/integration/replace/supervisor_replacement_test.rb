# frozen_string_literal: true

require "test_helper"
require_relative "../support/supervisor_case"

# `bontebok deploy --supervisor`: the supervisor executes its start command in its own place.
class SupervisorReplacementTest < Support::TestCase
  include SupervisorCase

  TEXT = /\Athe supervisor runs bontebok \S+, ruby \S+\n\z/

  FAULT = 'IO.pipe { |_, writer| $stderr.reopen(writer) }; raise "too late\xE9"'

  def test_children_listeners_and_descriptors_stay
    release(1)
    server = start("--pidfile", "#{temp_dir}/pid")
    former = workers(server)
    assert_command 0, TEXT, *COMMAND
    open = descriptors(server)
    2.times { assert_command 0, TEXT, *COMMAND }
    assert_equal former, workers(server)
    eventually("the descriptors to be as before") { descriptors(server) <= open } # a command's connection may be open
    assert_equal server.pid, File.read("#{temp_dir}/pid").to_i
    release(2)
    assert_command 0, "generation 2 serves\n", "deploy", "--wait"
    assert_serves 2, server
    assert_equal 0, server.stop.exitstatus
    refute_path_exists "#{temp_dir}/bontebok.sock"
    refute_path_exists "#{temp_dir}/pid"
    refute_path_exists control
  end

  def test_a_program_that_fails_in_the_trial_does_not_take_the_place
    release_with_bontebok(1, Bontebok::VERSION)
    server = start_release
    former = workers(server)
    release_with_bontebok(2, "99.1.2", "PROTOCOL = 1", "PROTOCOL = 2")
    command = run_command(*COMMAND)
    assert_equal 1, command.status.exitstatus
    assert_match(/this version cannot take the place of bontebok #{Bontebok::VERSION}: restart/, command.output.text)
    assert_equal former, workers(server)
    assert_serves 1, server
  end

  # The trial needs fewer descriptors than the program that takes the place.
  def test_a_limit_of_descriptors_that_is_too_low_is_found_in_the_trial
    release(1)
    server = start
    limit = descriptors(server) + 6
    Support::ChildProcess.run("prlimit", "--pid", server.pid.to_s, "--nofile=#{limit}:#{limit}")
    assert_command 1, /Too many open files/, *COMMAND
    assert_serves 1, server
  end

  # The trial succeeds. Nobody reads standard error any more, and the message is not UTF-8.
  def test_if_the_program_fails_later_the_former_program_is_executed
    release_with_bontebok(1, Bontebok::VERSION)
    server = start_release
    former = workers(server)
    release_with_bontebok(2, "99.1.2", "def masters\n", "\\0#{FAULT}\n")
    command = run_command(*COMMAND)
    assert_equal 1, command.status.exitstatus
    assert_equal "bontebok: the new program has failed: too late\uFFFD\n", command.output.text
    assert_equal former, workers(server)
    assert_equal Bontebok::VERSION, status["version"]
    assert_equal 0, server.stop.exitstatus
  end

  def test_workers_of_another_layout
    release_with_bontebok(1, Bontebok::VERSION)
    server = start_release
    release_with_bontebok(2, "99.1.2", "def copies(name, kind = IO)\n",
                          "\\0raise ArgumentError, 'layout 9' if name == 'links'\n")
    assert_command 1, /deploy this version first, then the supervisor: layout 9/, *COMMAND
    assert_command 0, "generation 2 serves\n", "deploy", "--wait"
    assert_equal 0, server.stop.exitstatus
  end

  # With the option User, the supervisor stays root.
  def test_root_executes_only_files_of_root
    skip "only root can become another user" unless Process.euid.zero?
    File.chmod(0o755, temp_dir)
    release(1)
    server = start("--user", "nobody")
    assert_command 0, TEXT, *COMMAND
    server.stop
    release_with_bontebok(1, Bontebok::VERSION)
    server = start_release("--user", "nobody")
    release_with_bontebok(2, "99.1.2")
    assert_command 0, "generation 2 serves\n", "deploy", "--wait"
    remove_release(1)
    File.chown(Etc.getpwnam("nobody").uid, nil, "#{temp_dir}/releases/2/lib/bontebok")
    assert_command 1, %r{the supervisor runs as root, and another user can change /.*/lib/bontebok/}, *COMMAND
    File.chown(0, nil, "#{temp_dir}/releases/2/lib/bontebok")
    assert_command 0, /runs bontebok 99\.1\.2/, *COMMAND
    assert_serves 2, server
  end

  def test_a_newer_version_takes_the_place
    release_with_bontebok(1, Bontebok::VERSION)
    server = start_release
    release_with_bontebok(2, "99.1.2")
    assert_command 0, "generation 2 serves\n", "deploy", "--wait"
    remove_release(1)
    assert_command 0, /runs bontebok 99\.1\.2/, *COMMAND
    assert_equal "99.1.2", status["version"]
    assert_equal 0, server.stop.exitstatus
  end

  def test_a_stop_ends_the_trial
    release_with_bontebok(1, Bontebok::VERSION)
    server = start_release
    release_with_bontebok(2, "99.1.2", "def check\n", "\\0warn 'in the trial'\nsleep\n")
    waiting = start_command(*COMMAND)
    server.wait_for_output(/^in the trial$/)
    assert_command 3, /busy/, *COMMAND
    assert_equal 0, server.stop.exitstatus
    assert_equal 1, waiting.wait.exitstatus
    assert_match(/the server stops/, waiting.output.text)
  end

  # The supervisor raises its limit, and commands of the application have the limit of the start.
  def test_the_limit_of_open_files
    release(1, "config.ru" => "run ->(_) { [200, {}, [`sh -c 'ulimit -n'`]] }")
    server = start_current("-w", "1", "--control", control,
                           command: ["sh", "-c", 'ulimit -Sn 200; exec "$@"', "sh", *ruby_client])
    former = open_files(server)
    assert_command 0, TEXT, *COMMAND
    assert_equal former, open_files(server)
    assert_command 0, "generation 2 serves\n", "deploy", "--wait"
    assert_equal "200\n", server.get.body
  end

  # The name is in Latin-1.
  def test_a_path_that_is_no_utf8
    release(1)
    server = start("--restart-file", "#{temp_dir}/l\xE4tin".b)
    message = "restart_file is not in UTF-8, so only a restart deploys"
    assert_command 1, /#{message}/, "deploy", "--wait"
    assert_command 1, /#{message}/, *COMMAND
    assert_serves 1, server
    assert_equal 0, server.stop.exitstatus
  end

  # The workers of the new master have failed, and its exit takes long.
  def test_a_failed_master_has_not_ended_yet
    release_with_bontebok(1, Bontebok::VERSION)
    server = start_release
    release_with_bontebok(2, "99.1.2")
    temp_file("releases/2/config/bontebok.rb", "after_fork { raise 'no' }\n")
    temp_file("releases/2/config.ru", <<~RUBY + Releases::APP)
      master = Process.pid
      at_exit { sleep 0.01 until Process.pid != master || File.exist?("end") }
    RUBY
    server.signal("USR2")
    server.wait_for_output(/the deploy has failed/)
    assert_command 0, /the supervisor runs bontebok 99/, *COMMAND
    assert_serves 1, server
    temp_file("releases/2/end")
  end

  def test_a_change_of_the_restart_file_while_the_program_starts
    release_with_bontebok(1, Bontebok::VERSION)
    restart = temp_file("restart.txt")
    server = start_release("--restart-file", restart)
    replace_slowly(server)
    File.utime(Time.now, Time.now + 1, restart)
    FileUtils.touch("#{temp_dir}/go")
    server.wait_for_output(/the supervisor runs bontebok 99.* has changed: a new master is executed/m)
    assert_serves 2, server
  end

  def test_a_deploy_ends_the_trial
    release_with_bontebok(1, Bontebok::VERSION)
    server = start_release
    release_with_bontebok(2, "99.1.2", "def check\n", "\\0warn 'in the trial'\nsleep 0.01 until File.exist?('go')\n")
    waiting = start_command(*COMMAND)
    server.wait_for_output(/^in the trial$/)
    temp_file("releases/2/config.ru", "sleep 0.01 until File.exist?('end')\n#{Releases::APP}")
    deploy = start_command("deploy", "--wait")
    server.wait_for_output(/the command deploy: a new master/)
    temp_file("releases/2/go")
    assert_equal 3, waiting.wait.exitstatus
    assert_match(/busy: another command came first/, waiting.output.text)
    temp_file("releases/2/end")
    assert_equal 0, deploy.wait.exitstatus
  end

  private

  def open_files(server)
    File.read("/proc/#{server.pid}/limits")[/^Max open files.*/]
  end

  def descriptors(server)
    Dir.children("/proc/#{server.pid}/fd").size
  end
end
