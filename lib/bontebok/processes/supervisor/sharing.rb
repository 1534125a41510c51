# frozen_string_literal: true

module Bontebok
  class Supervisor
    # The part of Supervisor that shares its TCP listeners with another server (ReusePort, see OtherServer).
    module Sharing
      private

      # True if this server may start while another one serves. Then it takes over the control socket when it is ready.
      def beside_another?
        @config[:reuse_port] || @listeners.start_server
      end

      # The client is the other server. It closes the connection when it is ready.
      def command_listeners(client)
        return client.finish(1, "the server stops") if stops?

        shared = @listeners.grep(TcpListener).select(&:shared?)
        return client.finish(1, "no TCP listener is shared (ReusePort)") if shared.empty? || !@listeners.listening?

        @log.info("another server starts with copies of the TCP listeners")
        @newcomers << client
        client.pass("the TCP listeners", shared.map(&:socket))
      end

      # True while another server starts.
      def newcomers?
        @newcomers.reject!(&:closed?)
        @newcomers.any?
      end
    end
  end
end
