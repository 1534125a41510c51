# frozen_string_literal: true

require_relative "../../../../lib/bontebok/sockets/control/control_connection"
require_relative "own"

module Bench
  module Deploys
    # One deploy, then rollbacks: two generations take turns. The commands go to the control socket directly, so that
    # the time of a rollback does not include the start of a Ruby process.
    class Rollback < Own
      NAME = "bontebok rollback"

      def contestant = server("--control", control, "--keep-former", "600s")

      def deploy
        return super.tap { @deployed = true } unless @deployed

        result = nil
        connection = ::Bontebok::ControlConnection.new(control)
        connection.ask({ "command" => "rollback", "wait" => true }) { |said| result = said }
        raise Failed, "#{name}: #{result}" unless result["status"].zero?
      end
    end
  end
end
