# frozen_string_literal: true

require_relative "own"

module Bench
  module Deploys
    # systemd-socket-activate opens the listener, and executes the server when the first client connects. The deploy is
    # that of Own.
    class Systemd < Own
      NAME = "bontebok systemd"
      # systemd-socket-activate removes all variables but those of -E.
      KEPT = %w[RUBYLIB GEM_HOME GEM_PATH].freeze

      def contestant
        server_without_address("--control", control).tap do |ours|
          variables = [*ours.env.keys, *@app.env.keys, *KEPT.select { |name| ENV.key?(name) }]
          ours.command = ["systemd-socket-activate", "-l", @address, *variables.flat_map { |name| ["-E", name] },
                          *ours.command]
        end
      end
    end
  end
end
