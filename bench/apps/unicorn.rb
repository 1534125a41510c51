# frozen_string_literal: true

# For unicorn, and for pitchfork, whose file has the same settings.
worker_processes Integer(ENV.fetch("BENCH_WORKERS"))
listen ENV.fetch("BENCH_LISTEN")
logger Logger.new(File::NULL)
