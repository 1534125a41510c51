# frozen_string_literal: true

require_relative "../kind"

module Bench
  module Deploys
    # USR2 to Puma: the process executes itself again, and keeps the listeners.
    class PumaHot < Kind
      NAME = "puma USR2"
      BOOTED = /Worker \d+ \(PID: \d+\) booted/

      def contestant
        listen = unix? ? "unix://#{@address}" : "tcp://#{@address}"
        Contestants.peer(name, ["puma", "-e", "production", "-C", File.join(FILES, "puma.rb"), @app.rackup],
                         env: { "BENCH_LISTEN" => listen, "BENCH_PRELOAD" => preload?.to_s })
      end

      def deploy
        wait_for_lines(BOOTED, 2) { signal("USR2") }
      end

      private

      def preload? = true
    end

    # USR1 to Puma: its workers are replaced one after the other. A phased restart requires that each worker loads the
    # application.
    class PumaPhased < PumaHot
      NAME = "puma USR1"

      def deploy
        wait_for_lines(BOOTED, 2) { signal("USR1") }
      end

      private

      def preload? = false
    end
  end
end
