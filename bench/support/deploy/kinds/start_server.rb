# frozen_string_literal: true

require_relative "bontebok"

module Bench
  module Deploys
    # HUP to start_server, which has the listener. It starts a new server, and sends TERM to the old one after a second.
    class StartServer < Bontebok
      NAME = "bontebok start_server"

      def contestant
        server_without_address("--control", "none").tap do |ours|
          ours.command = ["start_server", unix? ? "--path" : "--port", @address, "--", *ours.command]
        end
      end

      def deploy
        wait_for_lines(/old worker \d+ died, status:0$/) { signal("HUP") }
      end
    end
  end
end
