# frozen_string_literal: true

# The configuration of pitchfork for bench/rails. The numbers of requests are those of its documents.

worker_processes Integer(ENV.fetch("WEB_CONCURRENCY"))
timeout 3600 # the server is paused while others are measured
refork_after [50, 100, 1000]
