# frozen_string_literal: true

require_relative "../fault"

module Bench
  module Faults
    # Clients read a large response slowly, all the time.
    class SlowReaders < Fault
      RATE = 1024
      READERS = 70
      # Bytes. The receive buffer is small, so that the kernel stores only a small part of a response.
      RECEIVE_BUFFER = 16_384

      def title = "#{readers} clients read 30 MB at 1 KB/s"
      def readers = READERS

      def strike(run)
        sockets = Array.new(readers) { run.ask("/large", receive_buffer: RECEIVE_BUFFER) }
        run.every(1) { sockets.select! { |socket| read(socket) } }
        run.notes << "#{readers - sockets.size} of these clients reset"
      end

      private

      # False if the server has closed the connection.
      def read(socket)
        socket.read_nonblock(RATE, exception: false)
      rescue SystemCallError
        false
      end
    end

    # The same with little disk space for unread responses.
    class SlowReadersSmall < SlowReaders
      def title = "16 clients read 30 MB at 1 KB/s; --spool-max 40M"
      def settings = { workers: 2, spool_max: "40M" }
      def readers = 16
    end
  end
end
