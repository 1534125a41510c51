# frozen_string_literal: true

# The application of bench/spread: /sleep/1 sleeps for 1 ms. Each process writes the number of its requests into a file
# in the directory BENCH_COUNTS. The file's name is the process's pid.

served = 0
file = nil

run(lambda do |env|
  served += 1
  file ||= File.open(File.join(ENV.fetch("BENCH_COUNTS"), Process.pid.to_s), "w")
  file.pwrite([served].pack("Q"), 0)
  sleep(env["PATH_INFO"].split("/").last.to_f / 1000)
  [200, { "content-type" => "text/plain" }, ["done\n"]]
end)
