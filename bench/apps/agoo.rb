# frozen_string_literal: true

# Starts the server Agoo with the application of hello.ru. Agoo has no command that starts an application.
require "agoo"

address = ENV.fetch("BENCH_LISTEN")
port = address.start_with?("/") ? 0 : Integer(address.split(":").last)
bind = address.start_with?("/") ? "unix://#{address}" : "http://#{address}"
Agoo::Log.configure(dir: "", console: true, classic: true, colorize: false,
                    states: { INFO: false, DEBUG: false, connect: false, request: false, response: false, eval: false })
Agoo::Server.init(port, "/nonexistent", thread_count: 0, worker_count: 1, bind: [bind])
app = proc { |_env| [200, { "content-type" => "text/plain", "x-app" => "hello" }, ["Hello, World!\n"]] }
Agoo::Server.handle(nil, "**", app)
Agoo::Server.start
