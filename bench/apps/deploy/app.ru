# frozen_string_literal: true

# The application of bench/deploy. BENCH_BOOT: seconds of processor time that it takes to load, as a Rails application
# does.
clock = -> { Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) }
loaded = clock.call + Float(ENV.fetch("BENCH_BOOT", "0"))
nil while clock.call < loaded
run(proc { |_env| [200, { "content-type" => "text/plain" }, ["x" * 200]] })
