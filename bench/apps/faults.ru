# frozen_string_literal: true

# The application of bench/faults: each path is one fault. Files in the directory BENCH_DIR tell the application what to
# do, and tell the bench which process serves.

require "fiddle"

if (limit = ENV.fetch("BENCH_SERVICE_TIMEOUT", "")) != ""
  require "rack-timeout"
  require "logger"
  Rack::Timeout::Logger.level = Logger::ERROR
  use Rack::Timeout, service_timeout: Integer(limit)
end

NOTES = ENV.fetch("BENCH_DIR")
# Seconds after which every fault ends, even if the bench is gone.
LONGEST = 120
PART = ("x" * 65_536).freeze
LARGE = Array.new(480, PART).freeze

# After the note "bad" only one more process can load this version.
begin
  File.open(File.join(NOTES, "loaded"), "wx", &:close) if File.exist?(File.join(NOTES, "bad"))
rescue Errno::EEXIST
  raise "a bad generation"
end
sleep(Float(ENV.fetch("BENCH_LOAD_SECONDS")))

# If the note "raise" comes, this thread ends the process that has loaded the application. With preloading this is the
# master.
loader = Process.pid
Thread.new do
  note = File.join(NOTES, "raise")
  sleep 0.05 until File.exist?(note)
  File.unlink(note)
  Thread.current.abort_on_exception = true
  raise "a background thread of process #{loader}"
end

# A call in C that keeps Ruby's lock.
usleep = Fiddle::Function.new(Fiddle.dlopen(nil)["usleep"], [Fiddle::TYPE_INT], Fiddle::TYPE_INT, need_gvl: true)

run(lambda do |env|
  _, what, seconds = env["PATH_INFO"].split("/")
  File.write(File.join(NOTES, what), Process.pid.to_s) if %w[busy lock compute].include?(what)
  case what
  when "sleep", "busy" then sleep(Float(seconds))
  when "hang" then sleep(LONGEST)
  when "lock" then usleep.call(LONGEST * 1_000_000)
  when "exec" then exec("sleep", LONGEST.to_s)
  when "compute"
    limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + LONGEST
    Thread.new { nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit }
  when "upload" then env["rack.input"].read
  end
  body = what == "large" ? LARGE : [Process.pid.to_s]
  [200, { "content-type" => "text/plain", "content-length" => body.sum(&:bytesize).to_s }, body]
end)
