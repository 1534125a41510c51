# frozen_string_literal: true

require "json"
require "socket"

require_relative "../system/no_signal"

module Bontebok
  # One end of the socket pair through which the supervisor and an executed master exchange their first messages. An
  # executed master inherits no objects, so the supervisor sends it the descriptors of the server. A message is a Hash
  # with values of JSON, and a list of descriptors (SCM_RIGHTS, unix(7)).
  class Handshake
    # The environment variable that an executed master gets: the descriptors of its ends of Channel and Handshake.
    VARIABLE = "BONTEBOK_SUPERVISOR"
    # Bytes of the longest message.
    LONGEST = 64 * 1024
    # The kernel passes at most this number of descriptors with a message (SCM_MAX_FD).
    MOST = 253

    attr_reader :to_io

    # Returns the supervisor's end and the master's end.
    def self.pair
      Socket.pair(:UNIX, :SEQPACKET).map { |socket| new(socket) }
    end

    # fileno: the number of an inherited descriptor. Raises SystemCallError or ArgumentError.
    def self.inherit(fileno)
      new(Socket.for_fd(fileno).tap { |socket| socket.close_on_exec = true })
    end

    def initialize(socket)
      @to_io = socket
    end

    # Raises SystemCallError.
    def say(message, descriptors = [])
      rights = Socket::AncillaryData.unix_rights(*descriptors) if descriptors.any?
      @to_io.sendmsg(JSON.generate(message), NoSignal::FLAG, nil, *rights)
    end

    # Waits for a message. Returns [message, sockets and files]; nil: the other end is gone, or sends something else.
    def hear
      text, _, _, *controls = @to_io.recvmsg(LONGEST, scm_rights: true)
      [JSON.parse(text), controls.flat_map { |control| control.unix_rights.to_a }] unless text.nil? || text.empty?
    rescue SystemCallError, JSON::ParserError
      nil
    end

    def close
      @to_io.close unless @to_io.closed?
    end
    alias disown close
  end
end
