# frozen_string_literal: true

# The application of bench/inside: /sleep, /loop, /lock, /deadlock and /files keep their thread until the server is
# killed, / does nothing. /files opens files until no descriptor is left. While the file BENCH_DIR/slow exists, a
# release loads for long; with the file BENCH_DIR/broken it fails.

require "fiddle"

notes = ENV.fetch("BENCH_DIR")
longest = 120
sleep(0.05) while File.exist?(File.join(notes, "slow"))
raise "the new release is broken" if File.exist?(File.join(notes, "broken"))

# A call in C that keeps Ruby's lock.
libc_sleep = Fiddle::Function.new(Fiddle::Handle::DEFAULT["sleep"], [Fiddle::TYPE_INT], Fiddle::TYPE_INT,
                                  need_gvl: true)
mutex = Mutex.new
holder = nil
hold = lambda do
  holder ||= Thread.new { mutex.synchronize { sleep } }
  Thread.pass until mutex.locked?
end
files = []

run(lambda do |env|
  limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + longest
  case env["PATH_INFO"]
  when "/sleep" then sleep(longest)
  when "/loop" then nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
  when "/lock" then libc_sleep.call(longest)
  when "/deadlock"
    hold.call
    mutex.lock
  when "/files"
    begin
      loop { files << File.open(File::NULL) }
    rescue Errno::EMFILE
      sleep(longest)
    end
  end
  [200, { "content-type" => "text/plain" }, ["#{Process.pid}\n"]]
end)
