# frozen_string_literal: true

require_relative "../kind"

module Bench
  module Deploys
    # USR2 to unicorn starts a second server; QUIT ends the first one. unicorn closes each connection, so only new
    # connections are measured.
    class Unicorn < Kind
      NAME = "unicorn USR2 + QUIT"
      MODES = ["new"].freeze

      def contestant
        Contestants.peer(name, ["unicorn", "-E", "none", "-c", File.join(FILES, "unicorn.rb"), @app.rackup],
                         env: { "BENCH_LISTEN" => @address })
      end

      def deploy
        master = read.scan(/#(\d+)\].*master process ready/).flatten.last.to_i
        wait_for_lines(/worker=\d ready/, 2) { signal("USR2", master) }
        wait_for_lines(/master complete/) { signal("QUIT", master) }
      end
    end
  end
end
