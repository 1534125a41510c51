# frozen_string_literal: true

require_relative "units"

module Bontebok
  module Status
    # The lines of the screen about workers and their threads.
    class WorkerText
      # The most lines of threads below a worker.
      THREADS = 20
      # The most quiet workers with a line of their own.
      QUIET = 10

      def initialize(diagnosis)
        @diagnosis = diagnosis
        @rates = diagnosis.rates
        @now = diagnosis.snapshot.time
      end

      def lines
        quiet, others = @diagnosis.workers.partition(&:quiet?)
        [*(others + quiet.first(QUIET)).flat_map { |look| worker(look) }, *rest(quiet.drop(QUIET))]
      end

      private

      def worker(look)
        state = look.causes.map(&:text)
        if state.empty? || look.causes.first.kind == :leaves
          state << "#{look.requests.size} of #{look.threads.size} busy"
        end
        [["#{name(look)}: #{state.join(', ')}", counts(look)].join("; "), *threads(look)]
      end

      def name(look)
        generation = " g#{look[:generation]}" if look[:generation]
        "worker #{look[:number]}#{generation} pid #{look[:pid] || '?'}"
      end

      def counts(look)
        [*served([look]), *("#{look[:detached]} detached" if look[:detached].positive?),
         *("PSS #{Units.memory(look[:pss])}" if look[:pss]), *share("CPU", cpu(look)), *share("GC", gc(look)),
         *("up #{Units.age(up(look))}" if up(look))].join(", ")
      end

      def served(looks)
        [Units.several(looks.sum { |look| look[:requests] }, "request"),
         Units.several(looks.sum { |look| look[:errors] }, "error"),
         Units.several(looks.sum { |look| look[:connections].values.sum }, "connection")]
      end

      def share(name, value)
        "#{name} #{Units.percent(value)}" if value
      end

      def cpu(look) = @rates.share(look.facts, :cpu)

      # Without an earlier snapshot, the share of the time since the worker's start.
      def gc(look)
        @rates.share(look.facts, :gc_time) || (look[:gc_time] / up(look) if look[:gc_time] && up(look)&.positive?)
      end

      def up(look)
        [@now - look[:started], 0.0].max if @now && look[:started]
      end

      def threads(look)
        shown = look.requests.sort_by { |thread| [-(thread[:taken] || 0.0), thread[:number]] }
        more = shown.size - THREADS
        [*shown.first(THREADS).map { |one| thread(one) }, *("  and #{more} more" if more.positive?)]
      end

      def thread(thread)
        ["  thread #{thread[:number]}", Units.duration(thread[:taken]), thread[:label] || "a request", *work(thread),
         *kernel(thread)].join("  ")
      end

      def work(thread)
        held = { "body" => "waits for the body", "stream" => "streams" }[thread[:held]]
        [*("waited #{Units.duration(thread[:queue_time])}" if thread[:queue_time]), *held]
      end

      def kernel(thread)
        case thread[:run]
        when "R" then "runs"
        when "S", "D"
          where = thread[:kernel] || "unknown"
          thread[:run] == "D" ? "in the kernel: #{where} (no signal ends it)" : "in the kernel: #{where}"
        else ("in the kernel: #{thread[:kernel]}" if thread[:kernel])
        end
      end

      def rest(looks)
        return if looks.empty?

        numbers = [*served(looks), *memory(looks.filter_map { |look| look[:pss] }, looks.size)].join(", ")
        "#{Units.several(looks.size, 'more idle worker')}: #{numbers}"
      end

      # pss: of the workers whose memory is known.
      def memory(pss, count)
        return if pss.empty?

        "PSS #{Units.memory(pss.sum)}#{" (#{pss.size} of them)" if pss.size < count}"
      end
    end
  end
end
