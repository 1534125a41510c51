# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/control/control_socket"
require "bontebok/system/runtime/private_directory"

# Tests PrivateDirectory: a directory of another user is not used.
class PrivateDirectoryTest < Support::TestCase
  def setup
    @uid = Process.euid
    @directory = Bontebok::PrivateDirectory.new(@uid, parent: temp_dir)
  end

  def test_the_directory_is_made_once
    assert_predicate @directory, :missing?
    2.times { @directory.make }
    assert_equal [0o40700, @uid], [File.stat(@directory.path).mode, File.stat(@directory.path).uid]
    refute_predicate @directory, :missing?
  end

  def test_root_makes_the_directory_of_another_user
    skip "only root can give files away" unless Process.euid.zero?

    directory = Bontebok::PrivateDirectory.new(65_534, parent: temp_dir)
    directory.make
    assert_equal [0o40700, 65_534], [File.stat(directory.path).mode, File.stat(directory.path).uid]
    File.chown(0, nil, directory.path) # as if the server had ended before it gave the directory away
    directory.make
    assert_equal 65_534, File.stat(directory.path).uid
  end

  # A name can have any bytes.
  def test_a_socket_elsewhere
    ["/tmp/bontebok-\xE9/a", "/srv/\xE9/a", "/tmp/a", "/tmp/bontebok-1/2/a"].each do |path|
      assert_nil Bontebok::PrivateDirectory.around(path)
    end
    assert_equal "/tmp/bontebok-1", Bontebok::PrivateDirectory.around("/tmp/bontebok-1/\xE9").path
  end

  # { what somebody has put there => the fault }
  PUT = {
    ->(path) { Dir.mkdir("#{path}-real") && File.symlink("#{path}-real", path) } => "it is a link",
    ->(path) { File.symlink("/proc/none", path) } => "it is a link",
    ->(path) { File.write(path, "") } => "it is not a directory",
    ->(path) { Dir.mkdir(path) && File.chmod(0o777, path) } => "other users can write to it",
    ->(path) { Dir.mkdir(path) && File.chmod(0o770, path) } => "other users can write to it"
  }.freeze

  def test_a_directory_that_may_be_another_users_is_refused
    PUT.each do |put, fault|
      put.call(@directory.path)
      assert_equal fault, @directory.fault
      error = assert_raises(Bontebok::StartError) { @directory.make }
      assert_equal "#{@directory.path} is not used: #{fault}", error.message
      FileUtils.rm_r(@directory.path)
      FileUtils.rm_rf("#{@directory.path}-real")
    end
  end

  def test_a_directory_of_another_user_is_refused
    strange = Bontebok::PrivateDirectory.new(@uid + 1, parent: temp_dir)
    Dir.mkdir(strange.path, 0o700)
    assert_equal "it belongs to the user #{@uid}", strange.fault
  end

  def test_the_error_of_the_system_is_told
    error = assert_raises(Bontebok::StartError) { Bontebok::PrivateDirectory.new(@uid, parent: "/proc/none").make }
    assert_match(%r{\Acannot make the directory /proc/none/bontebok-\d+: No such file}, error.message)
  end

  def test_a_control_socket_in_a_directory_that_is_refused_is_an_error
    path = "/tmp/bontebok-#{4_000_000_000 + Process.pid}"
    Bontebok::ControlSocket.check("#{path}/a")
    refute_path_exists path
    File.symlink(temp_dir, path)
    %i[check new].each do |way|
      error = assert_raises(Bontebok::StartError) { Bontebok::ControlSocket.public_send(way, "#{path}/a") }
      assert_equal "#{path} is not used: it is a link", error.message
    end
    assert_empty Dir.children(temp_dir)
  ensure
    FileUtils.rm_f(path)
  end
end
