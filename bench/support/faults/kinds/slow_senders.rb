# frozen_string_literal: true

require_relative "../fault"

module Bench
  module Faults
    # Clients send bodies just above the least rate (min_body_rate, 500 bytes per second). There are more clients than
    # the server has descriptors.
    class SlowSenders < Fault
      DESCRIPTORS = 256
      SENDERS = 600
      RATE = 600
      HEAD = "POST /upload HTTP/1.1\r\nHost: fault\r\nContent-Length: 10000000\r\n\r\n"
      PART = ("x" * RATE).freeze

      def title = "#{SENDERS} clients send #{RATE} B/s, #{DESCRIPTORS} descriptors per process; response limit: 1 s"
      def wrap = ["prlimit", "--nofile=#{DESCRIPTORS}:#{DESCRIPTORS}"]
      def limit = 1

      def strike(run)
        sockets = Array.new(SENDERS) { run.ask("/upload", HEAD) }
        run.every(1) { sockets.each { |socket| send_part(socket) } }
      end

      private

      def send_part(socket)
        socket.write_nonblock(PART, exception: false)
      rescue SystemCallError
        nil
      end
    end
  end
end
