# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"
require_relative "../support/releases"

# A generation serves the files of the directory that its master has opened, whatever happens to the name `current`.
class PublicPinnedTest < Support::TestCase
  include ProcessTree
  include Releases

  # The application has left the directory when the workers are forked. It does not know the file, which answers the
  # workers' health checks.
  APP = <<~'RUBY'
    number = File.basename(Dir.pwd)
    Dir.chdir("/")
    run ->(env) { [env["PATH_INFO"] == "/" ? 200 : 404, {}, ["app #{number}"]] }
  RUBY
  ARGS = %w[-w 1 --public public --health-paths /a.txt].freeze

  def test_a_generation_serves_its_own_files_to_its_end
    server = start_release(1, "--keep-former", "10m", "--control", "#{temp_dir}/control")
    assert_pair 1, server
    release_with_files(2)
    assert_pair 1, server
    replace_workers(server)
    assert_pair 1, server
    deploy_and_keep(server)
    assert_pair 2, server
    rollback
    assert_pair 1, server
    replace_workers(server)
    assert_pair 1, server
    assert_equal 0, server.stop.exitstatus
    refute_match(/ warn | error /, server.output.text)
  end

  # Each worker loads the release that is current, and opens the directory of the same release.
  def test_a_worker_without_preload_has_the_files_of_its_own_release
    server = start_release(1, "--preload", "false")
    release_with_files(2)
    assert_pair 1, server
    replace_workers(server)
    assert_pair 2, server
  end

  # The directory is opened before the application is loaded.
  def test_one_process_has_the_files_of_its_start
    server = start_release(1, "-w", "0", "-t", "1", app: "File.rename('public', 'moved')\n#{APP}")
    release_with_files(2)
    assert_pair 1, server
    server.signal("USR2")
    server.wait_for_output(/(?:.*ready in \d+ ms){2}/m)
    assert_pair 2, server
  end

  # rackup has loaded the application once, for all masters.
  def test_a_later_master_of_rackup_has_the_files_of_the_start
    release_with_files(1)
    server = start_rackup
    former = master(server).pid
    release_with_files(2)
    Process.kill("KILL", former)
    eventually("another master") { ![nil, former].include?(master(server)&.pid) && workers(server).any? }
    assert_pair 1, server
  end

  def test_a_release_without_the_directory_leaves_the_former_release_in_service
    server = start_release(1)
    former = workers(server)
    release(2, "config.ru" => APP)
    server.signal("USR2")
    server.wait_for_output(%r{: command line: public: \S+/current/public: No such file.*the deploy has failed}m)
    assert_pair 1, server
    assert_equal former, workers(server)
  end

  private

  def release_with_files(number, app: APP)
    release(number, "config.ru" => app, "public/a.txt" => "file #{number}")
  end

  def start_release(number, *args, app: APP)
    release_with_files(number, app: app)
    start_current(*ARGS, *args)
  end

  def start_rackup
    current = "#{temp_dir}/current"
    server = Support::ServerProcess.new("bundle", "exec", "rackup", "-s", "bontebok", "-O", "MaxWorkers=1",
                                        "-O", "Listen=unix:#{temp_dir}/bontebok.sock", "-O", "Public=#{current}/public",
                                        chdir: current, env: { "PWD" => current })
    children << server
    server.wait_for_output(/ ready in \d+ ms$/)
    server
  end

  def replace_workers(server)
    former = workers(server)
    server.signal("HUP")
    wait_for_workers(server, 1, without: former)
  end

  def deploy_and_keep(server)
    server.signal("USR2")
    server.wait_for_output(/stays loaded for 600.0 s, without workers/)
  end

  def rollback
    command = Support::ChildProcess.run(RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, "rollback", "--wait",
                                        "--control", "#{temp_dir}/control", chdir: temp_dir)
    assert_equal "generation 1 serves again\n", command.output.text
  end

  # The file and the application are of this release. A worker of another release may still accept.
  def assert_pair(number, server)
    seen = nil
    assert(eventually("release #{number}", seen: -> { seen }) do
      (seen = %w[/a.txt /].map { |path| server.get(path).body }) == ["file #{number}", "app #{number}"]
    end)
  end
end
