# frozen_string_literal: true

# The application of bench/tail: /burn/1 computes for 1 ms, /large has 3 MB, /stream has 1,000 parts of 100 bytes. After
# its first /lock a worker has a thread that computes and never ends.

burn = lambda do |seconds|
  limit = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + seconds
  nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < limit
end

large = ["x" * 3_000_000].freeze
part = ("x" * 100).freeze
stream = Enumerator.new { |parts| 1000.times { parts << part } }
computing = nil

run(lambda do |env|
  body = ["done\n"]
  case env["PATH_INFO"]
  when %r{\A/burn/(.+)} then burn.call(Float(Regexp.last_match(1)) / 1000)
  when "/large" then body = large
  when "/stream" then body = stream
  when "/lock" then computing ||= Thread.new { loop { nil } }
  end
  [200, { "content-type" => "text/plain" }, body]
end)
