# frozen_string_literal: true

require_relative "cause"
require_relative "kernel_waits"
require_relative "units"

module Bontebok
  module Status
    # What can be wrong in one worker: a rule for each cause. A rule gets a WorkerLook, and returns a Cause or nil.
    module WorkerRules
      # A worker is silent if it misses two heartbeats and a half.
      SILENT = 3.0
      # Shorter waits of all threads are the normal work of a busy worker.
      LONG = 1.0
      # The CPU time of a thread that does not work. The kernel counts in steps of 10 ms.
      NOTHING = 0.011
      # The first rule that holds tells the state of the process.
      STATES = %i[stopped zombie lock_held main_thread_silent deadlock all_compute all_wait].freeze
      # These may hold besides.
      MORE = %i[paused leaves].freeze
      STOPPED = { "T" => "IS STOPPED (SIGSTOP)", "t" => "IS STOPPED BY A DEBUGGER" }.freeze

      class << self
        # Returns the worker's causes, the worst first.
        def causes(look)
          state = nil
          STATES.find { |rule| state = public_send(rule, look) }
          [state, *MORE.map { |rule| public_send(rule, look) }].compact
        end

        def stopped(look)
          text = STOPPED[look[:state]]
          Cause.new(kind: :stopped, text: text) if text
        end

        def zombie(look)
          return unless look[:state] == "Z"

          Cause.new(kind: :zombie, text: "HAS ENDED, and its parent has not noticed (zombie)")
        end

        def lock_held(look)
          return if look.silence < SILENT || uncertain?(look)

          cause(:lock_held, look.silence, "RUBY'S LOCK IS HELD for %s")
        end

        # The heartbeats fail, but the lock may be free.
        def main_thread_silent(look)
          return if look.silence < SILENT || !uncertain?(look)

          stop = ", or the process is stopped" unless look[:state]
          cause(:main_thread_silent, look.silence, "THE MAIN THREAD HAS NOT RUN for %s: a C call or a deadlock#{stop}")
        end

        # A single thread that waits for a condition is not suspicious.
        def deadlock(look)
          return if look.requests.size < 2 || look.shortest < [SILENT, look.seconds || Float::INFINITY].max
          return unless look.requests.all? { |thread| KernelWaits.lock?(thread) && rests?(look, thread) }

          what = "PERHAPS A DEADLOCK: #{look.requests.size} requests wait for locks, without CPU time, for %s"
          cause(:deadlock, look.shortest, what)
        end

        # One thread of a worker has Ruby's lock; others that compute wait for this lock.
        def all_compute(look)
          return unless look.full? && look.shortest >= LONG && look.requests.any? { |thread| KernelWaits.runs?(thread) }
          return unless look.requests.all? { |thread| KernelWaits.runs?(thread) || KernelWaits.lock?(thread) }

          cause(:all_compute, look.shortest, "#{all(look, 'COMPUTES', 'COMPUTE')} for %s")
        end

        def all_wait(look)
          return unless look.full? && look.shortest >= LONG
          return unless look.requests.all? { |thread| KernelWaits.asleep?(thread) }

          functions = KernelWaits.summary(look.requests)
          cause(:all_wait, look.shortest, "#{all(look, 'WAITS', 'WAIT')} for %s", functions)
        end

        def paused(look)
          text = "ACCEPTS NO CONNECTIONS: no descriptor is free, or max_connections is reached"
          Cause.new(kind: :paused, text: text) if look[:paused]
        end

        def leaves(look)
          Cause.new(kind: :leaves, text: "leaves") if look[:leaves]
        end

        private

        # Each thread waits for another program or for something unknown, or the reader may not see the state of the
        # process.
        def uncertain?(look)
          look[:state].nil? || look.requests.all? { |one| KernelWaits.others?(one) || KernelWaits.unknown?(one) }
        end

        def rests?(look, thread)
          growth = look.cpu_growth(thread)
          growth && growth < NOTHING
        end

        def all(look, one, many)
          look.threads.size == 1 ? "ITS THREAD #{one}" : "ALL #{look.threads.size} THREADS #{many}"
        end

        def cause(kind, seconds, text, more = nil)
          text = text.sub("%s", Units.age(seconds))
          Cause.new(kind: kind, text: more ? "#{text}: #{more}" : text, seconds: seconds)
        end
      end
    end
  end
end
