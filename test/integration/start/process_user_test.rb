# frozen_string_literal: true

require "etc"
require "test_helper"
require_relative "../support/process_tree"
require_relative "../support/releases"

# Root starts the server with the option User. The supervisor stays root, and all other processes run as the user. Logs,
# spool and sockets still work.
class ProcessUserTest < Support::TestCase
  include ProcessTree
  include Releases

  LOGS = %w[err.log out.log access.log].freeze
  NOBODY = Etc.getpwnam("nobody")
  # Responds with the ids of its user and groups, the size of the request body, and $USER.
  APP = <<~RUBY
    loaded_by = Process.euid
    run(lambda do |env|
      $stdout.puts "called"
      body = env["rack.input"].read.to_s
      ids = [loaded_by, Process.uid, Process.euid, Process.gid, Process.egid, *Process.groups]
      [200, { "content-type" => "text/plain" }, [ids.inspect, " ", body.bytesize.to_s, " ", ENV["USER"].to_s]]
    end)
  RUBY
  IDS = [NOBODY.uid, NOBODY.uid, NOBODY.uid, NOBODY.gid, NOBODY.gid, NOBODY.gid].inspect

  def setup
    skip "only root can become another user" unless Process.euid.zero?

    File.chmod(0o755, temp_dir)
  end

  def test_master_and_workers_are_the_user_and_the_supervisor_is_root
    [%w[-w 2], %w[-w 2 --preload false]].each do |args|
      server = start_bontebok(args: [*args, "--user", "nobody"], rackup: APP)
      server.wait_for_output(/ ready in \d+ ms$/)
      assert_equal "#{IDS} 0 nobody", server.get.body
      tree = [server.pid, master(server).pid, *workers(server)]
      assert_equal([0, *[NOBODY.uid] * 3], tree.map { |pid| uid(pid) })
      assert_equal 0, server.stop.exitstatus
      refute_path_exists "#{temp_dir}/bontebok.sock"
    end
  end

  # The next master has no rights of root from its first instruction on. Only root may write to the directory of the
  # sockets and logs.
  def test_a_deploy_evaluates_the_configuration_as_the_user
    text = "user 'nobody'\nmax_workers 1\nlisten 'unix:#{temp_dir}/bontebok.sock'\nlog '#{temp_dir}/err.log'\n"
    temp_file("bontebok.rb", text)
    server = start_bontebok(args: %w[-c bontebok.rb], rackup: APP, listen: nil, ready: false)
    wait_for_log("err.log", / ready in/)
    temp_file("bontebok.rb", "File.write('#{temp_dir}/spool/mark', '')\n#{text.gsub('err.log', 'new.log')}" \
                             "listen 'unix:#{temp_dir}/new.sock'")
    File.chmod(0o777, temp_file("spool/x").then { |path| File.dirname(path) })
    server.signal("USR2")
    wait_for_log("new.log", /master \(pid \d+\) has left: exit status 0/)
    assert_equal NOBODY.uid, File.stat("#{temp_dir}/spool/mark").uid
    assert_equal([0, NOBODY.uid, NOBODY.uid], [server.pid, master(server).pid, *workers(server)].map { |pid| uid(pid) })
    assert_equal "#{IDS} 0 nobody", get("new.sock").body
    assert_equal 0, server.stop.exitstatus
  end

  def test_logs_spool_and_pid_file_work_in_directories_of_root
    server = start_with_files
    assert_equal "#{IDS} 100000 nobody", server.request("POST", "/", {}, "x" * 100_000).body
    assert_equal [NOBODY.uid], owners(LOGS).uniq
    assert_equal "#{server.pid}\n", File.read("#{temp_dir}/a.pid")
    assert_equal 0, server.stop.exitstatus
    assert_equal ["called\n", 1], [File.read("#{temp_dir}/out.log"), File.readlines("#{temp_dir}/access.log").size]
    assert_equal %w[access.log config.ru err.log out.log spool], Dir.children(temp_dir).sort
  end

  # The new log files are in a directory of root, where the user cannot create files. Files that already exist must not
  # be given to the user.
  def test_rotated_logs_belong_to_the_user_again
    server = start_with_files
    server.get("/before")
    eventually { File.size?("#{temp_dir}/access.log") }
    LOGS.each { |name| File.rename("#{temp_dir}/#{name}", "#{temp_dir}/#{name}.1") }
    former = workers(server)
    server.signal("HUP")
    wait_for_workers(server, 1, without: former)
    assert_equal "#{IDS} 100000 nobody", server.request("POST", "/after", {}, "x" * 100_000).body
    assert_equal 0, server.stop.exitstatus
    assert_equal [NOBODY.uid], owners(LOGS).uniq
    assert_equal ["called\n"] * 2, [log("out.log.1"), log("out.log")]
    targets = %w[access.log.1 access.log].map { |name| log(name)[%r{ (/\w+)}, 1] }
    assert_equal %w[/before /after], targets
    assert_match(/ workers are replaced$.* w1 g1 ready.* stopped$/m, log("err.log"))
    refute_includes log("err.log"), " error "
  end

  # The log file and the directory belong to root.
  def test_a_file_that_the_user_may_not_use_fails_the_start_before_the_application_loads
    rackup = "raise 'loaded'\n"
    log = temp_file("roots.log")
    Dir.mkdir("#{temp_dir}/roots", 0o700)
    { %W[--log #{log}] => "cannot write to #{log}: Permission denied",
      %W[--access-log #{log}] => "access_log #{log}: Permission denied",
      %W[--spool-dir #{temp_dir}/roots] => "spool_dir #{temp_dir}/roots cannot be written to: Permission denied",
      %W[--rackup #{temp_dir}/roots/a.ru] => "cannot read the rackup file #{temp_dir}/roots/a.ru: Permission denied" }
      .each do |args, message|
      assert_fails 1, "as the user nobody: #{message}", ["--user", "nobody", *args], rackup: rackup
    end
  end

  def test_an_unknown_user_or_group_is_rejected
    file = temp_file("a.rb", "\nuser 'nobody:no-such'\n")
    { %w[--user no-such] => [2, "command line: there is no user no-such"],
      %w[--user nobody:no-such] => [2, "command line: there is no group no-such"],
      %w[--user :daemon] => [2, "command line: user wants a user, or USER:GROUP, not \":daemon\""],
      %W[-c #{file}] => [2, "#{file}:2: there is no group no-such"] }.each do |args, (status, message)|
      assert_fails status, message, args, rackup: APP
    end
  end

  # A single process has no supervisor. The process does all work that needs root before it becomes the user.
  def test_a_single_process_becomes_the_user
    server = start_bontebok(args: %w[-w 0 --user nobody], listen: :tcp, rackup: APP)
    assert_equal "#{IDS} 0 nobody", server.get.body
    assert_equal NOBODY.uid, uid(server.pid)
    assert_equal 0, server.stop.exitstatus
  end

  # The process creates the file of the socket after it has become the user.
  def test_a_single_process_cannot_make_a_socket_in_a_directory_of_root
    assert_fails 1, "as the user nobody: cannot listen on unix:#{temp_dir}/bontebok.sock: Permission denied: " \
                    "its directory is not writable",
                 %w[-w 0 --user nobody], rackup: APP
  end

  def test_a_new_master_also_runs_as_the_user
    server = start_bontebok(args: %w[-w 1 --user nobody], rackup: APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    first = master(server).pid
    Process.kill("KILL", first)
    eventually { (pid = master(server)&.pid) && pid != first && uid(pid) == NOBODY.uid }
    assert_equal "#{IDS} 0 nobody", server.get.body
  end

  # The server has its own network namespace, where no other process has the port.
  def test_a_server_with_user_can_listen_on_a_port_of_root
    server = Support::ServerProcess.new("unshare", "-n", RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, "-w", "1",
                                        "-l", "80", "--user", "nobody", rackup_file("config.ru", APP))
    children << server
    server.wait_for_output(/listening on 0\.0\.0\.0:80$/)
    server.wait_for_output(/ ready in \d+ ms$/)
    assert_equal NOBODY.uid, uid(workers(server).first)
  end

  def test_the_user_in_a_file_for_unicorn_is_obeyed
    temp_file("unicorn.rb", "user 'nobody', 'daemon'\npreload_app true\n")
    server = start_bontebok(args: %w[-c unicorn.rb], rackup: APP)
    daemon = Etc.getgrnam("daemon").gid
    assert_equal [*[NOBODY.uid] * 3, *[daemon] * 3].inspect, server.get.body[/\[.*\]/]
  end

  private

  def start_with_files
    spool = temp_file("spool/a").then { |path| File.dirname(path).tap { File.unlink(path) } }
    File.chown(NOBODY.uid, NOBODY.gid, spool)
    args = %W[-w 1 --user nobody --spool-threshold 4K --spool-dir #{spool} --pidfile a.pid
              --log err.log --stdout out.log --access-log access.log]
    # The start lines are in err.log.
    server = start_bontebok(ready: false, args: args, rackup: APP)
    eventually { File.exist?("#{temp_dir}/err.log") && File.read("#{temp_dir}/err.log").match?(/ ready in \d+ ms$/) }
    server.define_singleton_method(:address) { Support::Address.new("unix:#{@directory}/bontebok.sock") }
    server
  end

  def log(name)
    File.read("#{temp_dir}/#{name}")
  end

  def owners(names)
    names.map { |name| File.stat("#{temp_dir}/#{name}").uid }
  end

  def uid(pid)
    File.read("/proc/#{pid}/status")[/^Uid:\s+(\d+)\s+\1\s+\1/, 1]&.to_i
  end

  def assert_fails(status, message, args, **options)
    server = start_bontebok(ready: false, args: args, **options)
    assert_equal status, server.wait.exitstatus, args.join(" ")
    server.output.wait_for_end
    assert_equal "bontebok: #{message}\n", server.output.text
  end
end
