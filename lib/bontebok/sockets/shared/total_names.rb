# frozen_string_literal: true

module Bontebok
  # The names of the totals that Ruby counts (Totals#count). The core's names are in bontebok_metrics.h.
  module TotalNames
    # Why a worker has ended. The total is "ended REASON".
    ENDS = {
      "asked" => "its generation ends, or somebody has asked for other or fewer workers",
      "limit" => "it has reached max_requests, max_worker_age, max_worker_memory, or its limit of descriptors",
      "application" => "the application has asked for it, or has damaged the process",
      "timeout" => "a request has taken longer than request_timeout",
      "hung" => "it has not moved for worker_timeout",
      "late" => "it has not finished its requests in time",
      "killed" => "another process has sent a signal, or the memory was full",
      "crashed" => "it has ended by itself",
      "failed" => "it has ended before it was ready"
    }.freeze

    # How a deploy has ended. The total is "deploy RESULT".
    DEPLOYS = {
      "succeeded" => "the new generation serves",
      "failed" => "the new generation has failed",
      "canary_bad" => "the canary had too many errors, or has lost a worker",
      "canary_few" => "the canary got too few requests",
      "superseded" => "another deploy has replaced it",
      "rolled_back" => "the former generation serves again"
    }.freeze

    # Requests that have taken longer than request_timeout_soft. Without this limit: longer than request_timeout.
    SLOW = "slow requests"
    # Lines of the server's own log that could not be written.
    LOST = "log lines lost"
  end
end
