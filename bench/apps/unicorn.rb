# frozen_string_literal: true

worker_processes 1
listen ENV.fetch("BENCH_LISTEN")
logger Logger.new(File::NULL)
