# frozen_string_literal: true

require_relative "../../log/log_files"
require_relative "../../system/clock"
require_relative "../generations"

module Bontebok
  class Supervisor
    # Opens the logs again and replaces the workers, by commands and signals. The service manager is told until the
    # former workers have gone.
    class Renewal
      # Seconds between two looks at the workers.
      LOOK = 0.25

      # masters: the Generations. service: the ServiceReport.
      def initialize(deploys, masters, adopted, commands:, stop:, service:, log:)
        @deploys = deploys
        @masters = masters
        @adopted = adopted
        @stop = stop
        @service = service
        @log = log
        commands.on("USR1") { renew(:renew_slowly, "are replaced one after the other") }
        commands.answer("reopen") { |_, client| answer_reopen(client) }
        commands.answer("restart-workers") { |request, client| answer_restart(request["slowly"], client) }
      end

      # how: the word for the masters. The logs are opened again also during a stop, because leaving processes still
      # write to the logs.
      def renew(how = :renew, told = "are replaced")
        reopen_logs
        return if @stop.ends?

        @service.reload
        note if @service.wanted?
        @log.info("log files are opened again, workers #{told}")
        @masters.tell(how)
      end

      def under_way? = !@pids.nil?

      def tick
        @pids = nil unless @pids&.intersect?(serving) && Clock.now < @until
      end

      # The time of the next #tick; nil: it need not be called.
      def deadline
        Clock.now + LOOK if under_way?
      end

      private

      def answer_reopen(client)
        reopen_logs
        client.finish(0, "the log files are opened again")
      end

      def answer_restart(slowly, client)
        renew(slowly ? :renew_slowly : :renew)
        client.finish(0, "the workers are replaced")
      end

      def reopen_logs
        LogFiles.renew(@deploys.serving.config, @log)
        @masters.tell(:reopen)
        @adopted.reopen_logs
      end

      def note
        @pids = serving
        @until = Clock.now + Generations.limit(@deploys.serving.config)
      end

      def serving = @deploys.serving.listeners.worker_links.serving
    end
  end
end
