# frozen_string_literal: true

require_relative "../../log/log_files"

module Bontebok
  class Supervisor
    # The part of Supervisor that opens the logs again, replaces workers and changes their number.
    module Orders
      private

      def reopen
        renew_workers(:renew, "are replaced")
      end

      def reopen_logs
        LogFiles.renew(@config, @log)
        @masters.tell(:reopen)
        @adopted.reopen_logs
      end

      # The logs are opened again also during a stop, because leaving processes still write to the logs.
      def renew_workers(how, told)
        reopen_logs
        return if @stop.ends?

        @service.reload
        @renewal.begin(Generations.limit(@config)) if @service.wanted?
        @log.info("log files are opened again, workers #{told}")
        @masters.tell(how)
      end

      # Adds or removes a worker. A new master gets the new number of workers as well.
      def count_workers(signal)
        return @masters.change_workers(:more) if signal == "TTIN"

        @masters.workers > 1 ? @masters.change_workers(:fewer) : @log.info("1 worker is the minimum: no worker is removed")
      end
    end
  end
end
