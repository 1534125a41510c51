# frozen_string_literal: true

require "socket"
require "test_helper"
require "bontebok/system/runtime/control_places"

# Tests ControlPlaces: where a server puts its control socket, and where a command looks for it.
class ControlPlacesTest < Support::TestCase
  def setup
    @uid = Process.euid
    @first, @second = %w[first second].map { |name| FileUtils.mkdir("#{temp_dir}/#{name}").first }
  end

  def test_the_first_directory_of_the_environment_counts
    assert_equal @first, own("RUNTIME_DIRECTORY" => "#{@first}:#{@second}", "XDG_RUNTIME_DIR" => @second)
    assert_equal @second, own("RUNTIME_DIRECTORY" => "", "XDG_RUNTIME_DIR" => @second)
    assert_equal @second, own("RUNTIME_DIRECTORY" => "first:/proc/none:#{@second}")
    assert_equal "#{temp_dir}/bontebok-#{@uid}", own({})
  end

  # The environment may be that of another user (su), and a path of a unix socket has at most 107 bytes.
  def test_a_directory_that_cannot_be_used_is_left_out
    long = FileUtils.mkdir_p("#{temp_dir}/#{'a' * 100}").first
    [long, "relative", "\xff".b, temp_file("file"), "/proc/none", ("/proc/1" unless @uid.zero?)].each do |directory|
      assert_equal "#{temp_dir}/bontebok-#{@uid}", own("XDG_RUNTIME_DIR" => directory)
    end
  end

  def test_the_directory_belongs_to_the_user_of_the_application
    skip "only root can give files away" unless Process.euid.zero?

    { 0o700 => "#{temp_dir}/bontebok-65534", 0o755 => @first }.each do |mode, directory|
      File.chmod(mode, @first)
      assert_equal directory, own({ "XDG_RUNTIME_DIR" => @first }, 65_534)
    end
    File.chown(65_534, nil, @first)
    assert_equal @first, own({ "RUNTIME_DIRECTORY" => @first }, 65_534)
    assert_equal "#{temp_dir}/bontebok-0", own("RUNTIME_DIRECTORY" => @first)
  end

  # A command of another version must find the server, so the hash stays as it is.
  def test_each_directory_has_a_file_of_its_own
    assert_equal "bontebok-bdbf321589a707a5.control", File.basename(places({}, ["/srv/app/current"]).own)
    refute_equal places({}, ["/srv/app/current"]).own, places({}, ["/srv/app/releases/1"]).own
  end

  def test_a_command_looks_in_all_places
    Dir.mkdir("#{temp_dir}/app")
    file = File.basename(places({}).own)
    FileUtils.touch("#{temp_dir}/app/#{file}")
    directories = [@first, @second, "#{temp_dir}/user/#{@uid}", "#{temp_dir}/bontebok-#{@uid}", "#{temp_dir}/app"]
    paths = places({ "RUNTIME_DIRECTORY" => @first, "XDG_RUNTIME_DIR" => @second }).paths
    assert_equal(directories.map { |directory| "#{directory}/#{file}" }, paths)
    assert_equal 4, places({}, %w[/srv/app/current /srv/app/releases/1]).paths.size
    FileUtils.mkdir(%w[user user/77 bontebok-78].map { |name| "#{temp_dir}/#{name}" })
    others = %w[app user/77 bontebok-78].map { |name| "#{temp_dir}/#{name}/#{file}" }
    FileUtils.touch(others)
    assert_equal others.sort, places({}).paths.last(3).sort
  end

  # Any user could put a socket of this name into a directory of his.
  def test_a_process_of_another_user_is_not_trusted
    path = places({ "XDG_RUNTIME_DIR" => @first }).own
    assert_equal([true, true, true, false], [[0], [@uid], [77, 77], [77]].map { |user| trusted?(path, *user) })
    skip "only root can give files away" unless @uid.zero?

    File.chown(77, nil, @first)
    assert_equal([true, false], [77, 78].map { |user| trusted?(path, user) })
  end

  private

  def places(env, directories = ["/srv/app"], user: nil)
    Bontebok::ControlPlaces.new(directories, user: user, env: env, services: temp_dir, parent: temp_dir)
  end

  def trusted?(path, process, user = nil)
    places({}, user: user).trusted?(path, process)
  end

  # The directory that a server uses.
  def own(env, user = nil)
    File.dirname(places(env, user: user).own)
  end
end
