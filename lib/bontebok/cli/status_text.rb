# frozen_string_literal: true

module Bontebok
  # The output of `bontebok status`.
  module StatusText
    class << self
      # server: the Hash of the server's answer (Commands#server_status).
      def of(server)
        [head(server), *server["listeners"].map { |address| "listening on #{address}" },
         *("generation #{server['former']} is kept for a rollback" if server["former"]),
         *server["processes"].map { |process| worker(process) }].join("\n")
      end

      private

      def head(server)
        "bontebok #{server['version']}, ruby #{server['ruby']}, pid #{server['pid']}, " \
          "#{extent(server)}: #{server['state']}"
      end

      def extent(server)
        return "one process" if server["workers"].zero?

        "generation #{server['generation']}, #{server['workers']} workers"
      end

      def worker(process)
        parts = ["#{process['busy']} of #{process['threads']} threads busy", "#{process['requests']} requests"]
        parts << "#{process['errors']} errors" if process["errors"].positive?
        parts << "longest request #{process['longest']} ms" if process["longest"]
        parts << "leaves" if process["leaves"]
        "worker (pid #{process['pid']}): #{parts.join(', ')}"
      end
    end
  end
end
