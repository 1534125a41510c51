# frozen_string_literal: true

# The application of bench/deploy. BENCH_BOOT: seconds that it takes to load, like a Rails application.
sleep(Float(ENV.fetch("BENCH_BOOT", "0")))
run(proc { |_env| [200, { "content-type" => "text/plain" }, ["x" * 200]] })
