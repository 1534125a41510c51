# frozen_string_literal: true

# For unicorn and pitchfork, which have the same settings.
worker_processes Integer(ENV.fetch("BENCH_WORKERS"))
listen ENV.fetch("BENCH_LISTEN")
logger Logger.new(File::NULL)
