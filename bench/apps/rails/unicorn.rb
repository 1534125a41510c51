# frozen_string_literal: true

# The configuration of unicorn for bench/rails.

worker_processes Integer(ENV.fetch("WEB_CONCURRENCY"))
preload_app true
timeout 3600 # the server is paused while others are measured
