# frozen_string_literal: true

require "test_helper"
require_relative "../../support/unix_listener_case"
require "bontebok/sockets/shared_unix_listener"

# Tests servers that take over the path of a unix socket from each other (reuse_port).
class SharedUnixListenerTest < Support::UnixListenerCase
  def test_a_newcomer_takes_over_the_path_when_it_listens
    first = listening
    second = listener.tap(&:bind)
    assert_same first, reached
    second.listen
    assert_same second, reached
    assert_equal [true, false], [first, second].map(&:replaced?)
    assert_equal ["a.sock", "a.sock.former"], Dir.children(temp_dir).sort
  end

  def test_the_former_server_leaves_the_path_to_the_newcomer
    first = listening
    second = listening
    leave(first)
    assert_same second, reached
    assert_equal ["a.sock"], Dir.children(temp_dir)
    leave(second)
    assert_equal [], Dir.children(temp_dir)
  end

  def test_the_former_server_gets_the_path_back_if_the_newcomer_leaves
    first = listening
    leave(listening)
    assert_same first, reached
    refute_predicate first, :replaced?
    leave(first)
    assert_equal [], Dir.children(temp_dir)
  end

  def test_a_dead_server_does_not_get_the_path_back
    first = listening
    second = listening
    first.close
    leave(second)
    assert_equal [], Dir.children(temp_dir)
  end

  def test_the_last_of_many_servers_has_the_path
    first, second, third = Array.new(3) { listening }
    leave(second)
    leave(first)
    assert_same third, reached
    assert_equal ["a.sock"], Dir.children(temp_dir)
  end

  # A server was killed after it had created its file, or without having removed its files.
  def test_files_of_dead_servers_are_replaced
    %w[a.sock a.sock.next a.sock.former].each { |name| UNIXServer.new(File.join(temp_dir, name)).close }
    listener = listening
    assert_same listener, reached
    leave(listener)
    assert_equal [], Dir.children(temp_dir)
  end

  def test_no_file_appears_before_the_socket_listens
    listener.tap(&:bind)
    assert_equal [], Dir.children(temp_dir)
  end

  def test_the_file_has_its_mode_when_it_gets_the_path
    seen = nil
    File.stub(:rename, ->(from, _) { seen = File.stat(from).mode & 0o777 }) { listening(mode: 0o640) }
    assert_equal 0o640, seen
  end

  # Some file systems have no hard links. Then only the way back is missing.
  def test_without_hard_links_the_newcomer_takes_over_as_well
    listening
    second = File.stub(:link, ->(*) { raise Errno::EPERM }) { listening }
    assert_same second, reached
    leave(second)
    assert_equal [], Dir.children(temp_dir)
  end

  # The newcomer, or the server that runs, does not have reuse_port.
  def test_both_servers_need_reuse_port
    [Bontebok::SharedUnixListener, Bontebok::UnixListener].permutation do |first, second|
      running = listening(kind: first)
      error = assert_raises(Bontebok::StartError) { listener(kind: second).bind }
      assert_equal "cannot listen on unix:#{@path}: Address already in use by this process", error.message
      leave(running)
    end
  end

  def test_a_server_whose_queue_is_full_is_replaced
    first = listening
    clients = Array.new(9) { Addrinfo.unix(@path).connect }
    second = listening
    leave(second)
    accept(first.socket)
    assert_same first, reached
  ensure
    clients&.each(&:close)
  end

  def test_a_file_that_is_no_socket_stays
    temp_file("a.sock", "precious")
    error = assert_raises(Bontebok::StartError) { listener.bind }
    assert_equal ["cannot listen on unix:#{@path}: the file is not a socket", "precious"],
                 [error.message, File.read(@path)]
  end

  def test_the_path_needs_room_for_another_name
    long = File.join(temp_dir, "x" * (107 - temp_dir.size - 1))
    error = assert_raises(Bontebok::StartError) { listener(long).bind }
    assert_equal "cannot listen on unix:#{long}: with reuse_port, a unix path has at most 102 bytes", error.message
    listening(long[...-7])
  end

  def test_an_abstract_name_cannot_be_shared
    @path = "@bontebok-test-#{Process.pid}"
    listening
    assert_raises(Bontebok::StartError) { listening }
  end

  private

  def listener(path = @path, kind: Bontebok::SharedUnixListener, **access)
    super
  end

  # Returns the listener that gets new connections to the path.
  def reached
    Support::Client.open("unix:#{@path}") do |client|
      client.write("x")
      return @opened.find { |listener| !listener.socket.closed? && accept(listener.socket).include?("x") }
    end
  end

  # Accepts all connections, and returns what each has sent. Newcomers have connected to see whether the server lives.
  def accept(socket)
    sent = []
    while (connection, = socket.accept_nonblock(exception: false)) && connection != :wait_readable
      sent << connection.read_nonblock(1, exception: false)
      connection.close
    end
    sent
  end

  def leave(listener)
    listener.unlink
    listener.close
  end
end
