# frozen_string_literal: true

require_relative "control_connection"
require_relative "control_message"
require_relative "../../start_error"

module Bontebok
  # The command `watch`, as the command line sees it: asks once, and gets the facts and the memory of the server
  # (WatchAnswer is the server's side). The connection stays open, so its end tells that another process must be asked.
  class Watch
    # The answer, a Hash, or nil: there is none yet. With "status", the server refuses.
    attr_reader :answer

    # connection: a ControlConnection, which belongs to this object from now on.
    def initialize(connection)
      @connection = connection
      @received = +""
      @descriptors = []
      connection.write({ command: "watch" })
    end

    # The pid of the process that must answer; 0: not known.
    def pid = @connection.pid

    # Waits until the deadline for the answer. Returns the answer or nil. Raises StartError.
    def wait(deadline)
      hear until @answer || @over || @connection.wait(deadline.left).nil?
      raise StartError, "the server has ended" if @over && !@answer

      @answer
    end

    # True if the connection has ended.
    def over?
      hear if !@over && @connection.wait(0)
      @over == true
    end

    # { name => [IO, ...] }
    def descriptors
      names = @answer ? [*@answer["descriptors"]] : []
      names.zip(@descriptors).each_with_object({}) { |(name, io), found| (found[name] ||= []) << io if io }
    end

    def close
      [@connection, *@descriptors].each(&:close)
    end

    private

    def hear
      bytes, descriptors = @connection.receive
      return @over = true unless bytes

      @descriptors.concat(descriptors)
      @received << bytes
      return take_line if @received.bytesize <= ControlConnection::LONGEST

      raise StartError, "the server at #{@connection.path} sends something else"
    end

    def take_line
      line = @received.slice!(/\A.*\n/) or return
      @answer ||= ControlMessage.parse(line)
    rescue ControlMessage::Invalid => e
      raise StartError, "the server at #{@connection.path} sends something else: #{e.message}"
    end
  end
end
