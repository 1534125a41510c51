# frozen_string_literal: true

# The application of bench/soak: /sleep/1 and /burn/1 take 1 ms each. /large has 2 MiB. All other responses contain the
# request's body.

part = ("x" * 65_536).freeze
large = Array.new(32, part).freeze

burn = lambda do |seconds|
  limit = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + seconds
  nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < limit
end

run(lambda do |env|
  _, how, milliseconds = env["PATH_INFO"].split("/")
  case how
  when "sleep" then sleep(milliseconds.to_f / 1000)
  when "burn" then burn.call(milliseconds.to_f / 1000)
  end
  body = how == "large" ? large : [env["rack.input"]&.read || "", "done\n"]
  [200, { "content-type" => "text/plain" }, body]
end)
