# frozen_string_literal: true

# Starts the server Agoo with a directory of files, which it serves before it asks the application.
require "agoo"

address = ENV.fetch("BENCH_LISTEN")
port = address.start_with?("/") ? 0 : Integer(address.split(":").last)
bind = address.start_with?("/") ? "unix://#{address}" : "http://#{address}"
Agoo::Log.configure(dir: "", console: true, classic: true, colorize: false,
                    states: { INFO: false, DEBUG: false, connect: false, request: false, response: false, eval: false })
Agoo::Server.init(port, ENV.fetch("BENCH_ROOT"), thread_count: 0, worker_count: Integer(ENV.fetch("BENCH_WORKERS")),
                                                 root_first: true, bind: [bind])
Agoo::Server.handle(nil, "**", proc { |_env| [404, { "content-type" => "text/plain" }, ["Not Found\n"]] })
Agoo::Server.start
