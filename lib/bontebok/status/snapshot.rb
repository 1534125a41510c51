# frozen_string_literal: true

require_relative "histogram"
require_relative "shape"

module Bontebok
  module Status
    # What the server does at one moment, from the shared memory, /proc and the answer of the supervisor. Any of the
    # three may be wrong: a snapshot gives each value its shape (see Shape), so formatters rely on FIELDS.
    class Snapshot
      NAME = Shape.text(64)
      ADDRESS = Shape.text(120)
      SENTENCE = Shape.text(300)
      FUNCTION = Shape.text(40)
      private_constant :FUNCTION, :NAME, :ADDRESS, :SENTENCE

      CLASSES = %w[1xx 2xx 3xx 4xx 5xx].freeze
      CONNECTIONS = %i[idle fresh header body write linger disk served].freeze
      # The most workers, and the most threads of a worker, that a snapshot has.
      MOST = 1024
      # The most addresses of listeners.
      LISTENERS = 32

      SERVER = Shape.record(
        version: NAME, ruby: NAME, pid: Shape::NUMBER, mode: Shape.word("cluster", "single"),
        state: Shape.word("serving", "deploying", "draining", "stopping", "starting"), generation: Shape::NUMBER,
        workers: Shape::NUMBER, threads: Shape::NUMBER, started: Shape::TIME, serving_since: Shape::TIME,
        by: Shape.word("start", "deploy", "rollback"), listeners: Shape.list(ADDRESS, LISTENERS), former: Shape::NUMBER,
        tag: NAME, max_queue: Shape::COUNT, queue_timeout: Shape::COUNT, hidden: Shape::FLAG,
        uncounted: Shape::FLAG, trouble: Shape.list(SENTENCE, 16)
      )
      PROBE = Shape.record(ok: Shape::COUNT, failed: Shape::COUNT, failed_in_a_row: Shape::COUNT, last: Shape::TIME)
      TOTALS = Shape.record(
        responses: Shape.table(Shape::COUNT, names: CLASSES), aborted: Shape::COUNT, hijacked: Shape::COUNT,
        bytes_in: Shape::COUNT, bytes_out: Shape::COUNT, files: Shape::COUNT, accepted: Shape::COUNT,
        passed_on: Shape::COUNT,
        rejected: Shape.table(Shape::COUNT), probes: Shape.table(PROBE, names: %w[ready live]),
        gc_runs: Shape::COUNT, gc_time: ->(value) { Shape::SECONDS.call(value) || 0.0 },
        slow_requests: Shape::COUNT, lost_log_lines: Shape::COUNT, worker_ends: Shape.table(Shape::COUNT),
        deploys: Shape.table(Shape::COUNT)
      )
      # "0": the kernel does not tell it.
      KERNEL = ->(value) { FUNCTION.call(value) unless ["", "0"].include?(value) }
      THREAD = Shape.record(
        number: Shape::COUNT, tid: Shape::NUMBER, state: Shape.word("idle", "request", "between"),
        taken: Shape::SECONDS, queue_time: Shape::SECONDS, label: Shape.text(100), held: Shape.word("body", "stream"),
        kernel: KERNEL, run: Shape::LETTER, cpu: Shape::SECONDS
      )
      WORKER = Shape.record(
        number: Shape::COUNT, generation: Shape::NUMBER, pid: Shape::NUMBER, started: Shape::TIME, leaves: Shape::FLAG,
        paused: Shape::FLAG,
        silent: Shape::SECONDS, requests: Shape::COUNT, errors: Shape::COUNT,
        connections: Shape.table(Shape::COUNT, names: CONNECTIONS), detached: Shape::COUNT, pss: Shape::NUMBER,
        cpu: Shape::SECONDS, gc_time: Shape::SECONDS, state: Shape::LETTER, threads: Shape.list(THREAD, MOST)
      )
      EVENT = Shape.record(time: Shape::TIME, text: ->(value) { SENTENCE.call(value) || "" })
      HISTOGRAM = ->(value) { value.is_a?(Histogram) ? value : Histogram.new(value) }

      FIELDS = {
        at: ->(value) { Shape::SECONDS.call(value) || 0.0 }, time: Shape::TIME, server: SERVER,
        waiting: Shape.record(requests: Shape::NUMBER, oldest: Shape::SECONDS),
        accept_queues: Shape.list(Shape.record(address: ADDRESS, length: Shape::COUNT, limit: Shape::COUNT), LISTENERS),
        totals: TOTALS, queue_time: HISTOGRAM, service_time: HISTOGRAM, workers: Shape.list(WORKER, MOST),
        deploys: Shape.list(EVENT, 20), ends: Shape.list(EVENT, 20)
      }.freeze
      private_constant :SERVER, :PROBE, :TOTALS, :KERNEL, :THREAD, :WORKER, :EVENT, :HISTOGRAM

      attr_reader(*FIELDS.keys)

      # Raises ArgumentError if FIELDS lacks a name. A field that is missing is as a field with nil.
      def initialize(**fields)
        unknown = fields.keys - FIELDS.keys
        raise ArgumentError, "a snapshot has no #{unknown.join(', ')}" unless unknown.empty?

        FIELDS.each { |name, shape| instance_variable_set(:"@#{name}", shape.call(fields[name])) }
      end

      def to_h
        FIELDS.to_h { |name, _| [name, public_send(name)] }
      end

      # Whether a thread of a snapshot has a request.
      def self.busy?(thread) = thread[:state] == "request"

      # The numbers of all threads, and of those with a request.
      def threads = workers.sum { |worker| worker[:threads].size }
      def busy = workers.sum { |worker| worker[:threads].count { |thread| Snapshot.busy?(thread) } }

      def responses = totals[:responses].values.sum
      def rejected = totals[:rejected].values.sum

      # True if workers may serve, and none is shown.
      def unseen? = server[:hidden] && workers.empty?

      # The sums over all processes and all listeners. nil: at least one is not known.
      def pss
        each = workers.map { |worker| worker[:pss] }
        each.sum unless server[:hidden] || each.include?(nil)
      end

      def accept_queue
        known = accept_queues.map { |queue| queue[:address] }
        accept_queues.sum { |queue| queue[:length] } unless known.empty? || (server[:listeners] - known).any?
      end
    end
  end
end
