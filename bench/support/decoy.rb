# frozen_string_literal: true

require "socket"

module Bench
  # A listener that accepts every connection, but never reads or responds. Slow clients use the decoy when they must not
  # cost the measured server anything. The decoy has its own process, so that its accept queue never fills.
  class Decoy
    # address: "/path" or "127.0.0.1:PORT". The process ends at #finish, or when its parent process ends.
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
