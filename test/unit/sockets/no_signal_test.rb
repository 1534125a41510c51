# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "timeout"
require "bontebok/log/log_stream"
require "bontebok/sockets/channel"
require "bontebok/sockets/control/control_client"
require "bontebok/sockets/control/newcomer"
require "bontebok/sockets/control/control_connection"
require "bontebok/sockets/handshake"

# Writes to sockets whose peer has gone. They must raise no SIGPIPE, because its default action ends the process.
class NoSignalTest < Minitest::Test
  # { class => how an object of the class writes to the socket }
  WRITES = {
    "Channel" => ->(socket) { Bontebok::Channel.new(socket).tap { |one| one.say(:ready) }.close },
    "ControlConnection" => lambda { |socket|
      socket.define_singleton_method(:connect_nonblock) { |_| 0 }
      Socket.stub(:new, socket) { Bontebok::ControlConnection.new("/x") }.write({})
    },
    "ControlClient#say" => ->(socket) { Bontebok::ControlClient.new(socket).say("text") },
    "ControlClient#pass" => ->(socket) { Bontebok::ControlClient.new(socket).pass([$stdin], {}) },
    "Handshake" => ->(socket) { Bontebok::Handshake.new(socket).say({}) },
    "LogStream" => ->(socket) { Bontebok::LogStream.new(socket).write("text", 0) },
    "Newcomer" => ->(socket) { Bontebok::Newcomer.new(Bontebok::ControlClient.new(socket)).dismiss }
  }.freeze

  def test_a_write_to_a_peer_that_has_gone_raises_no_signal
    signals = Queue.new
    former = trap("PIPE") { signals << true }

    WRITES.each do |name, write|
      write_to_nobody(write)
      assert_predicate signals, :empty?, name
    end
    write_to_nobody(->(socket) { socket.write("text") })
    assert Timeout.timeout(60) { signals.pop }
  ensure
    trap("PIPE", former || "DEFAULT")
  end

  private

  def write_to_nobody(write)
    own, peer = UNIXSocket.pair
    peer.close
    write.call(own)
  rescue SystemCallError
    nil
  ensure
    own.close
  end
end
