# frozen_string_literal: true

require "test_helper"
require_relative "../../support/unix_listener_case"

# Tests the file of a unix socket. The file appears when the socket listens, and is removed when the server ends. The
# server replaces the file of a dead server, but never the file of a running server.
class UnixListenerTest < Support::UnixListenerCase
  def test_the_file_appears_when_the_socket_listens
    listener = listener().tap(&:bind)
    refute_path_exists @path
    listener.listen
    assert_equal ["a.sock"], Dir.children(temp_dir)
    Support::Client.open("unix:#{@path}") { |client| assert client }
    assert_equal ["unix:#{@path}", "localhost", 80], [listener.to_s, listener.server_name, listener.server_port]
  end

  # The server ignores the umask, because a proxy runs as another user.
  def test_every_user_who_may_enter_the_directory_may_connect
    former = File.umask(0o077)
    listening
    assert_equal 0o777, File.stat(@path).mode & 0o777
  ensure
    File.umask(former)
  end

  def test_the_file_has_the_configured_mode_and_group
    group = Process.uid.zero? ? 4 : Process.gid
    listening(mode: 0o640, owner: "#{Etc.getpwuid.name}:#{group}")
    stat = File.stat(@path)
    assert_equal [0o640, Process.uid, group], [stat.mode & 0o777, stat.uid, stat.gid]
    listening(other = "#{temp_dir}/other.sock", owner: ":#{group}")
    stat = File.stat(other)
    assert_equal [Process.uid, group], [stat.uid, stat.gid]
  end

  def test_an_unknown_owner_or_group_is_an_error
    error = assert_raises(Bontebok::StartError) { listener(owner: "nobody-of-this-name") }
    assert_match(/\Athe owner of unix sockets: can't find user for nobody-of-this-name/, error.message)
    error = assert_raises(Bontebok::StartError) { listener(owner: ":no-such-group") }
    assert_match(/\Athe owner of unix sockets: can't find group for no-such-group/, error.message)
  end

  # The error comes before the application loads, and no file stays.
  def test_an_owner_that_the_server_may_not_set_is_an_error
    File.stub(:chown, ->(*) { raise Errno::EPERM }) do
      error = assert_raises(Bontebok::StartError) { listener(owner: "0").bind }
      assert_equal "cannot listen on unix:#{@path}: not permitted to set the file's owner and group", error.message
    end
    assert_equal [], Dir.children(temp_dir)
  end

  # An attacker could replace the socket with a link, if the directory is writable. A server that runs as root must not
  # change the mode or the owner of the link's target.
  def test_a_link_in_the_sockets_place_changes_no_other_file
    listening(other = File.join(temp_dir, "other.sock"))
    precious = [temp_file("precious"), other].each { |path| File.chmod(0o600, path) }
    [[:link, precious.first], [:symlink, precious.first], [:symlink, other]].product([false, true]) do |link, by_name|
      File.public_send(*link, @path)
      assert_raises(Errno::ENOTSOCK) { Bontebok::SocketAccess.new(mode: 0o777, by_name: by_name).apply(@path) }
      File.unlink(@path)
    end
    assert_equal([0o600, 0o600], precious.map { |path| File.stat(path).mode & 0o777 })
  end

  def test_the_mode_and_the_owner_are_set_without_a_handle
    listening(by_name: true, owner: Process.uid.to_s)
    assert_equal [0o777, Process.uid], [File.stat(@path).mode & 0o777, File.stat(@path).uid]
  end

  def test_unlink_removes_the_file
    listening.unlink
    assert_equal [], Dir.children(temp_dir)
  end

  # A server that is killed while its application loads must leave no file behind.
  def test_no_file_of_any_name_exists_before_the_socket_listens
    UNIXServer.new(@path).close
    listener.tap(&:bind)
    assert_equal [], Dir.children(temp_dir)
  end

  # The socket file of another server can get the inode number of the removed file. Here both files are links to one
  # inode.
  def test_unlink_removes_the_file_only_once
    listener = listening
    File.link(@path, spare = "#{@path}.spare")
    listener.unlink
    File.rename(spare, @path)
    listener.unlink
    assert_path_exists @path
  end

  # Another server may have replaced the file since the close.
  def test_unlink_leaves_the_file_if_the_socket_was_closed
    listener = listening.tap(&:close)
    listener.unlink
    assert_path_exists @path
  end

  def test_a_forked_process_removes_nothing
    listener = listening
    Process.wait(fork { exit!(listener.unlink.nil?) })
    assert_path_exists @path
    listener.unlink
    refute_path_exists @path
  end

  def test_unlink_in_a_directory_that_is_gone_or_became_a_file_is_no_error
    Dir.mkdir(directory = File.join(temp_dir, "run"))
    listener = listening(File.join(directory, "a.sock"))
    File.rename(directory, "#{directory}.was")
    listener.unlink
    Dir.mkdir(directory)
    listener = listening(File.join(directory, "a.sock"))
    File.rename(directory, "#{directory}.is")
    temp_file("run")
    listener.unlink
    assert_equal %w[run run.is run.was], Dir.children(temp_dir).sort
  end

  def test_unlink_leaves_a_socket_that_another_server_put_there
    listener = listening
    File.unlink(@path)
    other = UNIXServer.new(@path)
    listener.unlink
    assert_path_exists @path
  ensure
    other&.close
  end

  def test_a_stale_socket_is_replaced
    UNIXServer.new(@path).close
    listening
    Support::Client.open("unix:#{@path}") { |client| assert client }
  end

  def test_a_socket_that_is_in_use_is_not_replaced
    listening
    assert_in_use(" by this process") { listener.bind }
  end

  def test_a_socket_whose_queue_is_full_is_in_use
    server = UNIXServer.new(@path)
    server.listen(0)
    waiting = Socket.new(Socket::PF_UNIX, Socket::SOCK_STREAM)
    waiting.connect(Socket.sockaddr_un(@path))
    assert_in_use { listener.bind }
  ensure
    [waiting, server].compact.each(&:close)
  end

  def test_a_file_that_is_no_socket_stays
    temp_file("a.sock", "precious")
    error = assert_raises(Bontebok::StartError) { listener.bind }
    assert_equal ["cannot listen on unix:#{@path}: the file is not a socket", "precious"],
                 [error.message, File.read(@path)]
  end

  def test_a_missing_directory_is_an_error
    path = "#{temp_dir}/missing/a.sock"
    error = assert_raises(Bontebok::StartError) { listener(path).bind }
    assert_equal "cannot listen on unix:#{path}: its directory does not exist", error.message
  end

  def test_the_longest_path_and_a_name_of_one_letter_are_possible
    directory = File.join(temp_dir, "x" * (105 - temp_dir.size - 1)).tap { |path| Dir.mkdir(path) }
    longest = File.join(directory, "s")
    assert_equal 107, longest.bytesize
    listening(longest)
    assert_path_exists longest
  end

  def test_an_abstract_name_is_served_and_is_in_use_once_it_is_bound
    @path = "@bontebok-test-#{Process.pid}"
    first = listener.tap(&:bind)
    assert_in_use { listener.bind }
    first.listen
    Support::Client.open("unix:#{@path}") { |client| assert client }
    assert_in_use(" by this process") { listener.bind }
    first.unlink
  end

  private

  def assert_in_use(by_whom = "", &)
    error = assert_raises(Bontebok::StartError, &)
    assert_equal "cannot listen on unix:#{@path}: Address already in use#{by_whom}", error.message
  end
end
