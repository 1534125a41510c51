# frozen_string_literal: true

# Configuration of unicorn for bench/deploy. Without preload_app, a worker is ready when it has loaded the application.
worker_processes 2
listen ENV.fetch("BENCH_LISTEN")
