# frozen_string_literal: true

# The application of bench/stream for iodine, with iodine's own interface. SSE: each client subscribes to a channel, and
# a timer publishes each message. iodine writes the messages to the clients in C. WebSocket: on_message.

require_relative "bodies"

subscriber = Object.new
def subscriber.on_open(client) = client.subscribe("messages")

echo = Object.new
def echo.on_message(client, data) = client.write(data)

# iodine's event loop does not let a thread publish on time, and its timer counts from the end of the last call. So the
# time in a message is the time of the call.
publish = lambda do
  now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  Iodine.publish("messages", Bodies.message(now))
end
timer = nil

run(lambda do |env|
  case env["PATH_INFO"]
  when "/sse"
    timer ||= Iodine.run_every(1000 / Bodies::MESSAGES_PER_SECOND, &publish)
    env["rack.upgrade"] = subscriber
    [200, {}, []]
  when "/echo"
    env["rack.upgrade"] = echo
    [200, {}, []]
  else
    Bodies.response(env["PATH_INFO"]) || [404, {}, []]
  end
end)
