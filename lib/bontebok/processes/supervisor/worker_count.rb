# frozen_string_literal: true

module Bontebok
  class Supervisor
    # Changes of the number of workers, by the command `workers` and by signals.
    class WorkerCount
      # The highest value of max_workers.
      MOST = 1024

      # masters: the Generations. A new master gets the new number of workers as well.
      def initialize(masters, commands, log)
        @masters = masters
        @log = log
        commands.on("TTIN") { masters.change_workers(:more) }
        commands.on("TTOU") { remove_one }
        commands.answer("workers") { |request, client| answer(request["number"].to_s, client) }
      end

      private

      def remove_one
        return @masters.change_workers(:fewer) if @masters.workers > 1

        @log.info("1 worker is the minimum: no worker is removed")
      end

      # number: "+N", "-N" or "N".
      def answer(number, client)
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
    end
  end
end
