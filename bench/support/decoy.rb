# frozen_string_literal: true

require "socket"

module Bench
  # A listener at which everybody is accepted and nobody is read or answered: where clients drip that are to cost the
  # server under measurement nothing. A process of its own, so that no client waits for a place in the queue.
  class Decoy
    # address: "/path" or "127.0.0.1:PORT". It ends with #finish, or with the process that made it.
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

    # exit!: what the parent does at its exit is not this process's to do.
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
