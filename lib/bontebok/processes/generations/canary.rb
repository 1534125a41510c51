# frozen_string_literal: true

require_relative "sequential_test"
require_relative "../../system/clock"
require_relative "../../system/proc/stat_line"

module Bontebok
  # Compares the first workers of a new generation with the workers of the former generation, which serve beside them
  # (`bontebok deploy --canary`). An error is a response 5xx, or a request past request_timeout.
  class Canary
    # Requests that the new workers must have served when the time is over.
    LEAST = 200
    FEW = "got fewer than #{LEAST} requests: a longer --for may help".freeze
    # Seconds between two looks. A worker that ends loses what it has counted since the last look. The new workers have
    # their share for four looks (WorkerLinks#share_with).
    INTERVAL = 0.25

    # The workers of a generation, and what they have done since the beginning.
    Group = Struct.new(:name, :workers, :requests, :errors) do
      def share
        requests.zero? ? 0.0 : errors.fdiv(requests)
      end

      def to_s
        format("%-10s %7d %9d %7d %7.2f %%", name, workers, requests, errors, share * 100)
      end
    end

    # The number of new workers, and the time of the next #verdict.
    attr_reader :count, :deadline

    # seconds: how long the comparison takes. max_errors: by how much the share of errors may be higher than that of the
    # former workers; 0.01 is 1 %.
    def initialize(count, seconds, max_errors)
      @count = count
      @seconds = seconds
      @max_errors = max_errors
    end

    # Called when the new workers serve. master: their master's pid.
    def begin(master, worker_links)
      @master = master
      @worker_links = worker_links
      @seen = {}
      @fresh = []
      look
      @before = @seen.dup
      @end = Clock.now + @seconds
      @deadline = Clock.now
    end

    # Returns nil until the canary is judged, then :good, :bad (too many errors), or :few (too few requests). Before the
    # time is over, it can only be :bad.
    def verdict
      @deadline = [Clock.now + INTERVAL, @end].min
      look
      return :bad if SequentialTest.worse?(*groups, @max_errors)

      last_verdict(*groups) if Clock.now >= @end
    end

    # For the user.
    def table
      ["generation workers  requests  errors   share", *groups].join("\n")
    end

    private

    def last_verdict(fresh, former)
      return :few if fresh.requests < LEAST

      fresh.share > former.share + @max_errors ? :bad : :good
    end

    # [the new workers, the others]
    def groups
      [group("canary", @fresh), group("former", @seen.keys - @fresh)]
    end

    # Workers that have ended count with the numbers that were seen last. A request past request_timeout is an error
    # before it is a request.
    def group(name, pids)
      requests, errors = [0, 1].map { |index| pids.sum { |pid| progress(pid, index) } }
      Group.new(name, (pids & @alive).size, [requests, errors].max, errors)
    end

    # A worker that gives up lanes loses what they have counted.
    def progress(pid, index)
      [@seen[pid][index] - @before.fetch(pid, [0, 0])[index], 0].max
    end

    # Reads the numbers of all workers: pid => [requests, errors]. Lets the new workers have their share of the requests
    # until the next look.
    def look
      numbers = @worker_links.processes.to_h { |process| [process[:pid], process.values_at(:requests, :errors)] }
      parents = numbers.to_h { |pid, _| [pid, StatLine.parent_of(pid)] }.compact
      @alive = parents.keys
      @fresh |= @alive.select { |pid| parents[pid] == @master }
      @seen.merge!(numbers.slice(*@alive, *@seen.keys))
      @worker_links.share_with(@fresh & @alive)
    end
  end
end
