# frozen_string_literal: true

require_relative "../kind"

module Bench
  module Deploys
    # The superclass of the kinds with Bontebok.
    class Bontebok < Kind
      READY = / ready in \d+ ms$/

      def start
        super
        wait("ready") { read.match?(READY) }
      end

      private

      # The command that listens on the address.
      def server(*options)
        plain = Contestants.ours(@address, 2, @app.rackup).first
        Contestants.with(plain, name, *@app.options, *options)
      end

      # The command with adopted listeners.
      def server_without_address(*options)
        with = server(*options)
        at = with.command.index("-l")
        with.tap { with.command.slice!(at, 2) }
      end
    end
  end
end
