# frozen_string_literal: true

require_relative "control_connection"

module Bontebok
  # The command `watch`, as the command line sees it: asks once, and gets the facts and the memory of the server
  # (WatchAnswer is the server's side). The connection stays open, so its end tells that another process must be asked.
  class Watch
    # The answer, a Hash, or nil: there is none yet. With "status", the server refuses.
    attr_reader :answer

    # connection: a ControlConnection, which belongs to this object from now on.
    def initialize(connection)
      @connection = connection
      connection.write({ command: "watch" })
    end

    # The pid of the process that must answer; 0: not known.
    def pid = @connection.pid

    # Waits until the deadline for the answer. Returns the answer or nil. Raises StartError.
    def wait(deadline)
      hear(deadline) unless @answer
      raise StartError, "the server has ended" if @over && !@answer

      @answer
    end

    # True if the connection has ended.
    def over?
      hear(Deadline.new(0)) unless @over
      @over
    end

    # { name => [IO, ...] }
    def descriptors
      names = @answer ? [*@answer["descriptors"]] : []
      names.zip(@connection.descriptors).each_with_object({}) { |(name, io), found| (found[name] ||= []) << io if io }
    end

    def close = @connection.close

    private

    def hear(deadline)
      message = @connection.read(deadline)
      @over = message.nil?
      @answer ||= message if message
    end
  end
end
