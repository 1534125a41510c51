# frozen_string_literal: true

require_relative "../../config/option_types"
require_relative "../../sockets/control/control_message"
require_relative "../generations/canary"
require_relative "../commands"
require_relative "../deploys"
require_relative "../stop"

module Bontebok
  class Supervisor
    # Orders to deploy and to roll back: by commands, signals and the restart file. Deploys obeys them.
    class DeployOrders
      LOADED = "rackup or `rails server` has loaded the application: restart the server"
      STARTS = "the server still starts"
      BUSY = "busy: a master starts already; --supersede replaces it"
      # The seconds and the share of errors that a canary can have.
      CANARY_SECONDS = (0..(OptionTypes::Duration::LONGEST / 1000))
      CANARY_ERRORS = (0..1)

      # masters: the Generations. start: the FirstStart. service: the ServiceReport. The block is the command `deploy
      # --supervisor`; it gets the client.
      def initialize(deploys, masters, start, commands:, stop:, service:, log:, &replace)
        @deploys = deploys
        @masters = masters
        @stop = stop
        @start = start
        @service = service
        @log = log
        commands.on("USR2") { |signal| deploy("SIG#{signal}") }
        commands.on(:restart) { deploy("#{config[:restart_file]} has changed") }
        commands.answer("rollback") { |request, client| answer_rollback(request, client) }
        commands.answer("deploy") do |request, client|
          request["supervisor"] ? replace.call(client) : answer_deploy(request, client)
        end
      end

      # True while a master starts, or will be started.
      def busy? = @start.under_way? || @deploys.busy?

      private

      def config = @deploys.serving.config

      def deploy(reason, **order)
        @service.reload
        return @log.info("#{reason}: the server stops already") if @stop.ends? || @stop.leaves?
        return @log.info("#{reason}: #{STARTS}") if @start.under_way?
        return @log.error("#{reason}: #{LOADED}") if @deploys.loaded?

        @log.info("#{reason}: a new master is executed")
        @deploys.deploy(**order)
      end

      def answer_deploy(request, client)
        return client.finish(1, Stop::TEXT) if @stop.begun?
        return client.finish(Commands::BUSY, STARTS) if @start.under_way?
        return client.finish(1, LOADED) if @deploys.loaded?
        return client.finish(Commands::BUSY, BUSY) if busy? && !request["supersede"]

        canary = canary_of(request)
        deploy("the command deploy", clients: request["wait"] ? [client] : [], canary: canary)
        client.finish(0, "a new master is executed") unless request["wait"]
      end

      # Raises ControlMessage::Invalid.
      def canary_of(request)
        count, seconds, max_errors = request.values_at("canary", "for", "max_errors")
        return unless count

        unless count.is_a?(Integer) && count.positive? && CANARY_SECONDS.cover?(seconds) &&
               CANARY_ERRORS.cover?(max_errors)
          raise ControlMessage::Invalid,
                "a canary needs a number of workers, a time of at most a year and 0 % to 100 % of errors"
        end

        Canary.new(count.clamp(1, @masters.workers), seconds, max_errors)
      end

      def answer_rollback(request, client)
        return client.finish(1, Stop::TEXT) if @stop.begun?
        return client.finish(Commands::BUSY, STARTS) if @start.under_way?
        return client.finish(1, nothing_kept) unless @masters.kept
        return client.finish(Commands::BUSY, BUSY) if @deploys.ordered? && !request["supersede"]

        @deploys.roll_back(request["wait"] ? [client] : [])
        client.finish(0, "the former master starts workers") unless request["wait"]
      end

      def nothing_kept
        surge = "; with deploy_surge, it ends when the next deploy begins" if config[:deploy_surge].positive?
        "no former generation is kept (see keep_former)#{surge}"
      end
    end
  end
end
