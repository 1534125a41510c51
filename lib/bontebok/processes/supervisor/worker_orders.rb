# frozen_string_literal: true

require_relative "../../log/log_files"
require_relative "../../system/clock"
require_relative "../commands"
require_relative "../generations"

module Bontebok
  class Supervisor
    # Orders about the workers, by commands and signals: how many there are, and that all are replaced. Both orders to
    # replace them open the logs again, too. Masters obey. The service manager is told until the former workers have
    # gone.
    class WorkerOrders
      # The highest value of max_workers.
      MOST = 1024
      # Seconds between two looks at the workers that are replaced.
      LOOK = 0.25

      # masters: the Generations. A new master gets the new number of workers as well. service: the ServiceReport.
      def initialize(deploys, masters, adopted, commands:, stop:, service:, log:)
        @deploys = deploys
        @masters = masters
        @adopted = adopted
        @stop = stop
        @service = service
        @log = log
        commands.on("TTIN") { masters.change_workers(:more) }
        commands.on("TTOU") { remove_one }
        commands.on("USR1") { renew(:renew_slowly, "are replaced one after the other") }
        answer_commands(commands)
      end

      # how: the word for the masters. The logs are opened again also during a stop, because leaving processes still
      # write to the logs.
      def renew(how = :renew, told = "are replaced")
        reopen_logs
        return if @stop.ends?

        @service.reload
        note_renewal if @service.wanted?
        @log.info("log files are opened again, workers #{told}")
        @masters.tell(how)
      end

      # True while the former workers have not gone.
      def renews? = !@pids.nil?

      def tick
        @pids = nil unless @pids&.intersect?(serving) && Clock.now < @until
      end

      # The time of the next #tick; nil: it need not be called.
      def deadline
        Clock.now + LOOK if renews?
      end

      private

      def answer_commands(commands)
        commands.answer("workers") { |request, client| answer_number(request["number"].to_s, client) }
        commands.answer("reopen") do |_, client|
          reopen_logs
          client.finish(0, "the log files are opened again")
        end
        commands.answer("restart-workers") do |request, client|
          renew(request["slowly"] ? :renew_slowly : :renew)
          client.finish(0, "the workers are replaced")
        end
      end

      # number: "+N", "-N" or "N".
      def answer_number(number, client)
        sign, count = number.match(/\A([+-]?)(\d{1,4})\z/)&.captures
        return client.finish(2, "the number of workers is N, +N or -N") unless count
        if @masters.under_way.any? { |generation| generation.start.nil? }
          return client.finish(Commands::BUSY, "busy: the former master starts workers")
        end

        change(sign == "" ? count.to_i : @masters.workers + "#{sign}#{count}".to_i)
        client.finish(0, "#{@masters.workers} worker#{'s' unless @masters.workers == 1}")
      end

      def change(wanted)
        wanted = wanted.clamp(1, MOST)
        @masters.change_workers(@masters.workers < wanted ? :more : :fewer) until @masters.workers == wanted
      end

      def remove_one
        return @masters.change_workers(:fewer) if @masters.workers > 1

        @log.info("1 worker is the minimum: no worker is removed")
      end

      def reopen_logs
        LogFiles.renew(@deploys.serving.config, @log)
        @masters.tell(:reopen)
        @adopted.reopen_logs
      end

      def note_renewal
        @pids = serving
        @until = Clock.now + Generations.limit(@deploys.serving.config)
      end

      def serving = @deploys.serving.listeners.worker_links.serving
    end
  end
end
