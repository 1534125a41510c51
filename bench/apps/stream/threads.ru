# frozen_string_literal: true

# The application of bench/stream for Puma and Bontebok. SSE: the body's `call` keeps the stream and returns, and one
# thread writes each message to all streams. WebSocket: full hijack, websocket-driver, and one thread with a selector of
# nio4r, as in Action Cable.

require_relative "bodies"
require_relative "echo"
require_relative "echo_thread"
require_relative "ticker"

ticker = Ticker.new
reader = EchoThread.new

run(lambda do |env|
  case env["PATH_INFO"]
  when "/sse"
    [200, { "content-type" => "text/event-stream", "cache-control" => "no-cache" }, ->(stream) { ticker.add(stream) }]
  when "/echo"
    next [501, {}, ["no rack.hijack"]] unless env["rack.hijack?"]

    reader.add(Echo.new(env, env["rack.hijack"].call))
    [-1, {}, []]
  else
    Bodies.response(env["PATH_INFO"]) || [404, {}, []]
  end
end)
