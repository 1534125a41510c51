# frozen_string_literal: true

require "bontebok/status/snapshot"

# Snapshots for tests of lib/bontebok/status.
module StatusCase
  # 2026-11-29 03:10:00 UTC
  NOW = 1_795_921_800.0

  private

  # A server with two workers of two threads. fields: they replace those of the example.
  def snapshot(**fields)
    Bontebok::Status::Snapshot.new(
      at: 1000.0, time: NOW, server: server, waiting: { requests: 0, oldest: nil },
      accept_queues: [{ address: "http://127.0.0.1:8080", length: 0, limit: 1024 }], totals: totals,
      workers: [worker(1), worker(2)], **fields
    )
  end

  def server(**fields)
    { version: "1.2.3", ruby: "3.1.2", pid: 10, state: "serving", mode: "cluster", generation: 2, workers: 2,
      threads: 2, started: NOW - (3 * 86_400), serving_since: NOW - 480, by: "deploy",
      listeners: ["http://127.0.0.1:8080"], former: nil, tag: "app", max_queue: 0, queue_timeout: 0, trouble: [],
      **fields }
  end

  def totals(**fields)
    { responses: { "2xx" => 160, "5xx" => 3 }, rejected: {}, **fields }
  end

  def worker(number, threads: [idle(1), idle(2)], **fields)
    { number: number, generation: 2, pid: 10_844 + number, started: NOW - 480, leaves: false, silent: nil,
      requests: 163, errors: 0, connections: { idle: 10, fresh: 2 }, detached: 0, pss: 98 << 20, cpu: nil,
      gc_time: 1.44, state: "S", threads: threads, **fields }
  end

  def idle(number) = { number: number, tid: 100 + number, state: "idle" }

  # A thread with a request.
  def busy(number, taken, kernel: nil, run: kernel ? "S" : "R", **fields)
    { number: number, tid: 100 + number, state: "request", taken: taken, queue_time: 0.0, label: "GET /#{number}",
      kernel: kernel, run: run, **fields }
  end
end
