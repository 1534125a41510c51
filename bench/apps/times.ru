# frozen_string_literal: true

# The application of bench/times: /sleep/1 sleeps for 1 ms, /burn/10 uses 10 ms of CPU, / does nothing.

# By default a sleep ends up to 50 us late. Threads and processes that are created from here on inherit the new value.
File.write("/proc/self/timerslack_ns", "1")

burn = lambda do |seconds|
  limit = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + seconds
  nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < limit
end

run(lambda do |env|
  _, how, milliseconds = env["PATH_INFO"].split("/")
  seconds = milliseconds.to_f / 1000
  burn.call(seconds) if how == "burn"
  sleep(seconds) if how == "sleep"
  [200, { "content-type" => "text/plain" }, ["done\n"]]
end)
