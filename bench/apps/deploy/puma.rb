# frozen_string_literal: true

# Configuration of puma for bench/deploy. A phased restart (USR1) needs workers that load the application themselves.
workers 2
threads 1, 1
preload_app!(ENV["BENCH_PRELOAD"] == "true")
bind ENV.fetch("BENCH_LISTEN")
quiet
