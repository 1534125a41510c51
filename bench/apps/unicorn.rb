# frozen_string_literal: true

# Configuration of unicorn and of pitchfork.
worker_processes Integer(ENV.fetch("BENCH_WORKERS"))
listen ENV.fetch("BENCH_LISTEN")
logger Logger.new(File::NULL)
