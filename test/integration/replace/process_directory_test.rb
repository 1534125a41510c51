# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# The name of the working directory is a symbolic link. After a deploy, the link points to another release.
class ProcessDirectoryTest < Support::TestCase
  include ProcessTree

  def setup
    release(1)
  end

  def test_a_new_master_loads_the_release_that_the_link_points_to
    { %w[--directory current] => temp_dir, [] => "#{temp_dir}/current" }.each do |args, directory|
      release(1)
      server = start_in(directory, *args, "-w", "1", "--restart-file", "tmp/restart.txt")
      assert_release 1, server
      deploy(2)
      FileUtils.touch("#{temp_dir}/current/tmp/restart.txt")
      assert(eventually { server.get.body == "release 2 in #{release_directory(2)}" })
      assert_equal 0, server.stop.exitstatus
    end
  end

  def test_workers_without_preload_load_the_release_that_the_link_points_to
    temp_file("bontebok.rb", "directory '#{temp_dir}/current'\n")
    server = start_in(temp_dir, "-w", "1", "--preload", "false", "-c", "bontebok.rb")
    former = workers(server)
    deploy(2)
    server.signal("HUP")
    wait_for_workers(server, 1, without: former)
    assert_release 2, server
  end

  def test_workers_stay_in_their_directory_if_the_link_is_gone
    server = start_in(temp_dir, *%w[--directory current -w 1 --preload false])
    former = workers(server)
    File.unlink("#{temp_dir}/current")
    server.signal("HUP")
    wait_for_workers(server, 1, without: former)
    server.wait_for_output(%r{ error .* cannot change to the directory #{temp_dir}/current again: No such file})
    assert_release 1, server
  end

  # Until an executed master is ready, it has a pipe to the supervisor.
  def test_a_deploy_leaves_no_pipe_open
    server = start_in(temp_dir, *%w[-w 1 --err-respawn-interval 10ms --directory current])
    server.wait_for_output(/ ready in \d+ ms$/)
    former = workers(server)
    server.signal("USR2")
    worker, = wait_for_workers(server, 1, without: former)
    pipes = nil
    assert(eventually("the end of the pipe", seen: -> { pipes }) { (pipes = lonely_pipes(worker, server)).empty? })
    assert_equal [worker], workers(server)
  end

  private

  # The pipes of which the process has one end, and the server has none.
  def lonely_pipes(pid, server)
    pipes = Support::ProcessTable.descriptors(pid).values.grep(/\Apipe:/).tally
    pipes.select { |_, ends| ends == 1 }.keys - Support::ProcessTable.descriptors(server.pid).values
  end

  # Starts the server as a shell does: PWD is the name of the directory.
  def start_in(directory, *args)
    server = Support::ServerProcess.new(RbConfig.ruby, Support::BontebokProcess::EXECUTABLE,
                                        "-l", "unix:#{temp_dir}/bontebok.sock", *args, chdir: directory,
                                                                                       env: { "PWD" => directory })
    children << server
    server.wait_until_ready
  end

  def release(number)
    rackup_file("releases/#{number}/config.ru",
                "app = ->(_) { [200, {}, [\"release #{number} in \#{Dir.pwd}\"]] }\nrun app\n")
    FileUtils.mkdir_p("#{release_directory(number)}/tmp")
    File.symlink("releases/#{number}", "#{temp_dir}/new")
    File.rename("#{temp_dir}/new", "#{temp_dir}/current")
  end

  # Makes a new release and removes the former release.
  def deploy(number)
    release(number)
    FileUtils.rm_r(release_directory(number - 1))
  end

  def release_directory(number)
    "#{File.realpath(temp_dir)}/releases/#{number}"
  end

  def assert_release(number, server)
    assert_equal "release #{number} in #{release_directory(number)}", server.get.body
  end
end
