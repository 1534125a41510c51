# frozen_string_literal: true

require "test_helper"
require_relative "../../support/unix_listener_case"

# A unix socket appears when it listens, replaces a stale one, never a living one, and goes with its server.
class UnixListenerTest < Support::UnixListenerCase
  def test_it_appears_when_it_listens
    listener = listener().tap(&:bind)
    refute_path_exists @path
    listener.listen
    assert_equal ["a.sock"], Dir.children(temp_dir)
    Support::Client.open("unix:#{@path}") { |client| assert client }
    assert_equal ["unix:#{@path}", "localhost", 80], [listener.to_s, listener.server_name, listener.server_port]
  end

  # Whatever the umask is: a proxy has a user of its own.
  def test_everybody_may_connect_who_may_enter_the_directory
    former = File.umask(0o077)
    listening
    assert_equal 0o777, File.stat(@path).mode & 0o777
  ensure
    File.umask(former)
  end

  def test_its_mode_and_group
    group = Process.uid.zero? ? 4 : Process.gid
    listening(mode: 0o640, owner: Etc.getpwuid.name, group: group.to_s)
    stat = File.stat(@path)
    assert_equal [0o640, Process.uid, group], [stat.mode & 0o777, stat.uid, stat.gid]
  end

  def test_an_owner_that_there_is_not
    error = assert_raises(Bontebok::StartError) { listener(owner: "nobody-of-this-name") }
    assert_match(/\Athe owner of unix sockets: can't find user for nobody-of-this-name/, error.message)
    error = assert_raises(Bontebok::StartError) { listener(group: "no-such-group") }
    assert_match(/\Athe owner of unix sockets: can't find group for no-such-group/, error.message)
  end

  # Before the application loads, and nothing stays.
  def test_an_owner_that_it_cannot_be_given_to
    File.stub(:chown, ->(*) { raise Errno::EPERM }) do
      error = assert_raises(Bontebok::StartError) { listener(owner: "0").bind }
      assert_equal "cannot listen on unix:#{@path}: not permitted to set the file's owner and group", error.message
    end
    assert_equal [], Dir.children(temp_dir)
  end

  # Somebody else may write in the directory, and the server is root: a link in the socket's place leads to no file of
  # his choice.
  def test_only_a_socket_is_given_away
    listening(other = File.join(temp_dir, "other.sock"))
    precious = [temp_file("precious"), other].each { |path| File.chmod(0o600, path) }
    [[:link, precious.first], [:symlink, precious.first], [:symlink, other]].each do |way, target|
      File.public_send(way, target, @path)
      assert_raises(Errno::ENOTSOCK) { Bontebok::SocketAccess.new(mode: 0o777).apply(@path) }
      File.unlink(@path)
    end
    assert_equal([0o600, 0o600], precious.map { |path| File.stat(path).mode & 0o777 })
  end

  def test_unlink_removes_it
    listening.unlink
    assert_equal [], Dir.children(temp_dir)
  end

  # Nothing may be left of a server that is killed while its application loads.
  def test_there_is_no_file_of_any_name_before_it_listens
    UNIXServer.new(@path).close
    listener.tap(&:bind)
    assert_equal [], Dir.children(temp_dir)
  end

  # The number of the file that we removed may be that of another server's socket by now: here it is the same file.
  def test_unlink_removes_once
    listener = listening
    File.link(@path, spare = "#{@path}.spare")
    listener.unlink
    File.rename(spare, @path)
    listener.unlink
    assert_path_exists @path
  end

  def test_unlink_leaves_what_may_be_somebody_elses_since_our_socket_was_closed
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

  def test_unlink_in_a_directory_that_is_gone_or_is_one_no_more
    Dir.mkdir(directory = File.join(temp_dir, "run"))
    listener = listening(File.join(directory, "a.sock"))
    File.rename(directory, "#{directory}.was")
    listener.unlink
    Dir.mkdir(directory)
    listener = listening(File.join(directory, "a.sock"))
    File.rename(directory, "#{directory}.is")
    temp_file("run")
    listener.unlink
  end

  def test_unlink_leaves_what_somebody_else_put_there
    listener = listening
    File.unlink(@path)
    listener.unlink
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

  def test_a_living_one_is_refused
    listening
    assert_in_use(" by process #{Process.pid}") { listener.bind }
  end

  def test_one_whose_queue_is_full_is_living
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
    assert_equal ["cannot listen on unix:#{@path}: File exists", "precious"], [error.message, File.read(@path)]
  end

  def test_missing_directory
    error = assert_raises(Bontebok::StartError) { listener("/nonexistent/a.sock").bind }
    assert_equal "cannot listen on unix:/nonexistent/a.sock: No such file or directory", error.message
  end

  def test_the_longest_path_and_a_name_of_one_letter
    directory = File.join(temp_dir, "x" * (105 - temp_dir.size - 1)).tap { |path| Dir.mkdir(path) }
    longest = File.join(directory, "s")
    assert_equal 107, longest.bytesize
    listening(longest)
    assert_path_exists longest
  end

  def test_abstract_name
    @path = "@bontebok-test-#{Process.pid}"
    first = listener.tap(&:bind)
    assert_in_use { listener.bind }
    first.listen
    Support::Client.open("unix:#{@path}") { |client| assert client }
    assert_in_use(" by process #{Process.pid}") { listener.bind }
    first.unlink
  end

  private

  def assert_in_use(by_whom = "", &)
    error = assert_raises(Bontebok::StartError, &)
    assert_equal "cannot listen on unix:#{@path}: Address already in use#{by_whom}", error.message
  end
end
