# frozen_string_literal: true

require "socket"

module Bench
  # A listener that accepts every connection, but never reads or responds. Slow clients use the decoy when they must not
  # cost the measured server anything. It is a process of its own, so that no client waits for a place in the queue.
  class Decoy
    # address: "/path" or "127.0.0.1:PORT". The process ends with #finish, or with the process that made it.
    def initialize(address)
      listener = address.start_with?("/") ? UNIXServer.new(address) : TCPServer.new(*address.split(":"))
      listener.listen(Socket::SOMAXCONN)
      ended, @alive = IO.pipe
      @pid = fork { keep_all(listener, ended) }
      [listener, ended].each(&:close)
    end

    def finish
      @alive.close
      Process.wait(@pid)
    end

    private

    # exit! does not run the exit handlers, which belong to the parent.
    def keep_all(listener, ended)
      @alive.close
      kept = []
      loop do
        readable, = IO.select([listener, ended])
        break if readable.include?(ended)

        kept << listener.accept
      end
    ensure
      exit!
    end
  end
end
