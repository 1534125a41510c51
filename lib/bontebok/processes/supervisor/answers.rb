# frozen_string_literal: true

require_relative "../../config/option_types"
require_relative "../canary"

module Bontebok
  class Supervisor
    # The part of Supervisor that answers commands (see Commands).
    module Answers
      # The highest value of max_workers.
      MOST_WORKERS = 1024
      # The seconds and the share of errors that a canary can have.
      CANARY_SECONDS = (0..(OptionTypes::Duration::LONGEST / 1000))
      CANARY_ERRORS = (0..1)

      private

      def answer_commands
        { %w[deploy] => :command_deploy, %w[rollback] => :command_rollback, %w[workers] => :command_workers,
          %w[reopen restart-workers] => :command_renew }.each do |names, method|
          @commands.answer(*names, &method(method))
        end
      end

      def command_deploy(request, client)
        return command_replace(client) if request["supervisor"]
        return client.finish(1, "the server stops") if @stop.begun?
        return client.finish(Commands::BUSY, "the server still starts") if @steps.any?
        return client.finish(1, Deploys::LOADED) if @release
        if busy? && !request["supersede"]
          return client.finish(Commands::BUSY, "busy: a master starts already; --supersede replaces it")
        end

        canary = canary_of(request)
        deploy("the command deploy", clients: request["wait"] ? [client] : [], canary: canary)
        client.finish(0, "a new master is executed") unless request["wait"]
      end

      # All values are JSON.
      def server_status
        { generation: @deploys.serving.number, workers: @masters.workers, state: state,
          former: @masters.kept&.setup&.number, mode: "cluster", masters: @masters.pids }
      end

      def state
        return "stopping" if @stop.ends?
        return "deploying" if busy?

        @stop.drains? ? "draining" : "serving"
      end

      # True while a master starts, or will be started.
      def busy?
        @steps.any? || @deploys.busy?
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

      def command_rollback(request, client)
        return client.finish(1, "the server stops") if @stop.begun?
        return client.finish(Commands::BUSY, "busy: a master starts already") if busy?
        return client.finish(1, nothing_kept) unless @masters.kept

        @deploys.roll_back(request["wait"] ? [client] : [])
        client.finish(0, "the former master starts workers") unless request["wait"]
      end

      def nothing_kept
        surge = "; with deploy_surge, it ends when the next deploy begins" if @config[:deploy_surge].positive?
        "no former generation is kept (see keep_former)#{surge}"
      end

      def command_renew(request, client)
        if request["command"] == "reopen"
          reopen_logs
          client.finish(0, "the log files are opened again")
        else
          renew_workers(request["slowly"] ? :renew_slowly : :renew, "are replaced")
          client.finish(0, "the workers are replaced")
        end
      end

      # number: "+N", "-N" or "N".
      def command_workers(request, client)
        sign, count = request["number"].to_s.match(/\A([+-]?)(\d{1,4})\z/)&.captures
        return client.finish(2, "the number of workers is N, +N or -N") unless count
        if @masters.under_way.any? { |generation| generation.start.nil? }
          return client.finish(Commands::BUSY, "busy: the former master starts workers")
        end

        wanted = sign == "" ? count.to_i : @masters.workers + "#{sign}#{count}".to_i
        wanted = wanted.clamp(1, MOST_WORKERS)
        @masters.change_workers(@masters.workers < wanted ? :more : :fewer) until @masters.workers == wanted
        client.finish(0, "#{wanted} worker#{'s' unless wanted == 1}")
      end
    end
  end
end
