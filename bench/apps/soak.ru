# frozen_string_literal: true

# The application of bench/soak and bench/abuse: /sleep/1 and /burn/1 take 1 ms each. /large has 2 MiB, and /file is a
# file of about this size. /parts/0.5 has 20 small parts, with 0.5 ms after each. /stream and /hijack are answered by a
# thread of the application; /stream/100 has 100 ms after each part. /upgrade sends back what the client sends. All
# other responses contain the request's body.

part = ("x" * 65_536).freeze
large = Array.new(32, part).freeze

file = Struct.new(:to_path).new(File.expand_path("../../lib/bontebok/bontebok.so", __dir__))

parts = lambda do |seconds|
  Enumerator.new do |yielder|
    20.times do
      yielder << "part\n"
      sleep(seconds)
    end
  end
end

answer_later = lambda do |io, head, seconds|
  Thread.new do
    io.write(head)
    10.times do
      io.write("part\n")
      sleep(seconds)
    end
  rescue IOError, SystemCallError
    nil # the client is gone
  ensure
    io.close
  end
end

hijack = lambda do |env, seconds|
  head = "HTTP/1.1 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\n"
  answer_later.call(env["rack.hijack"].call, head, seconds)
  [-1, {}, []]
end

send_back = lambda do |stream|
  Thread.new do
    loop { stream.write(stream.readpartial(16_384)) }
  rescue IOError, SystemCallError
    nil # the client is gone, or sends no more
  ensure
    stream.close
  end
end

burn = lambda do |seconds|
  limit = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + seconds
  nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < limit
end

run(lambda do |env|
  _, how, milliseconds = env["PATH_INFO"].split("/")
  seconds = milliseconds.to_f / 1000
  next hijack.call(env, seconds) if how == "hijack"
  next [101, { "rack.protocol" => "back" }, send_back] if how == "upgrade"

  body =
    case how
    when "large" then large
    when "file" then file
    when "parts" then parts.call(seconds)
    when "stream" then ->(stream) { answer_later.call(stream, "head\n", seconds) }
    else
      how == "burn" ? burn.call(seconds) : sleep(seconds)
      [env["rack.input"]&.read || "", "done\n"]
    end
  [200, { "content-type" => "text/plain" }, body]
end)
