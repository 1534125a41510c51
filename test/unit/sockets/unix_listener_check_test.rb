# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require_relative "../../support/unix_listener_case"
require "bontebok/sockets/shared_unix_listener"

# UnixListener#check makes the checks of #bind, and changes no file.
class UnixListenerCheckTest < Support::UnixListenerCase
  def test_a_check_leaves_a_stale_socket
    UNIXServer.new(@path).close
    former = File.stat(@path).ino
    listener.check
    assert_equal [["a.sock"], former], [Dir.children(temp_dir), File.stat(@path).ino]
  end

  def test_a_check_that_fails_leaves_a_stale_socket
    UNIXServer.new(@path).close
    one = listener
    one.stub(:try_path, -> { raise Errno::EACCES }) { assert_raises(Bontebok::StartError) { one.check } }
    assert_equal ["a.sock"], Dir.children(temp_dir)
  end

  # A server that was killed at its start has left the second file.
  def test_a_check_with_reuse_port_leaves_stale_sockets
    [@path, "#{@path}.next"].each { |path| UNIXServer.new(path).close }
    listener(kind: Bontebok::SharedUnixListener).check
    assert_equal ["a.sock", "a.sock.next"], Dir.children(temp_dir).sort
  end

  def test_a_check_finds_a_living_server
    listening
    assert_raises(Bontebok::StartError) { listener.check }
    assert_equal ["a.sock"], Dir.children(temp_dir)
  end
end
