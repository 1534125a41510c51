# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # The limits of requests and of connections.
    module Limits
      include OptionValues

      TITLE = "Limits"

      OPTIONS = [
        Option.new("max_target", OptionTypes::Size.new(64..(1 << 20)), 16 * 1024,
                   "Maximum size of a request target. If the target is longer, the client gets 414.",
                   section: TITLE, core: true),
        Option.new("max_field_bytes", OptionTypes::Size.new(256..(16 << 20)), 64 * 1024,
                   "Maximum size of all fields of a request head. If the fields are longer, the client gets 431.",
                   section: TITLE, core: true),
        Option.new("max_fields", OptionTypes::Count.new(1..4096), 128,
                   "Maximum number of fields of a request head. If the head has more, the client gets 431.",
                   section: TITLE, core: true),
        Option.new("max_body", SIZE, 0,
                   "Maximum size of a request body. If the body is longer, the client gets 413. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("allow_underscore_headers", SWITCH, false,
                   "Keep request fields with _ in their names. In env, the fields X_A and X-A have the same name. " \
                   "false: fields with _ are dropped.",
                   section: TITLE, core: true),
        Option.new("max_connections", COUNT, 0,
                   "Maximum number of connections of a worker. At the limit, or without free descriptors, the worker " \
                   "closes the connection that has been idle for the longest time; each thread chooses among its " \
                   "own connections. If no connection is idle, each connection is closed after its response, and a " \
                   "new client is served if its whole request has arrived. To accept other new clients, the worker " \
                   "closes the connections of the slowest clients, ten per second: a client that sends slowly gets " \
                   "408, a client that reads slowly gets a reset. If there is still no free connection, a new client " \
                   "gets 503. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("max_queue", COUNT, 0,
                   "Maximum number of requests that wait for a worker. The limit counts all requests of the server " \
                   "that wait while all workers are busy. Each request above the limit gets 503 with Retry-After at " \
                   "once, before the rest of its body is read. The connection stays open if the whole request has " \
                   "arrived. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("health_paths", OptionTypes::Paths.new(255), [].freeze,
                   "Paths of health checks, with spaces between them. max_queue and queue_timeout never reject a " \
                   "request for one of these paths. Before a new worker serves, it requests the first of these paths " \
                   "from itself. In a deploy, the deploy fails if the response is not 2xx. At other times the worker " \
                   "serves anyway, and the log has a warning.",
                   section: TITLE),
        Option.new("health_headers", OptionTypes::Fields.new, [].freeze,
                   "Field of the requests of a worker to itself. See health_paths and warm_up. For example, an " \
                   "application that redirects to https needs `X-Forwarded-Proto: https`. `Host: app.example` " \
                   "replaces `Host: localhost`. The option may be given several times.",
                   section: TITLE, repeated: true),
        Option.new("warm_up", OptionTypes::Paths.new(4096), [].freeze,
                   "Paths that a new worker requests first, from itself. A response 5xx has the same effect as a " \
                   "failed health check (health_paths).",
                   section: TITLE),
        Option.new("ready_path", REQUEST_PATH, "",
                   "Path that shows whether the server takes new clients. The server responds without the " \
                   "application, also while all threads of all workers are busy. The response is 200, and 503 after " \
                   "TERM (drain_delay). With ready_path or live_path, workers also accept connections while all " \
                   "threads are busy, as with max_queue.",
                   section: TITLE),
        Option.new("live_path", REQUEST_PATH, "",
                   "Path that shows whether the server is alive. The server responds as for ready_path. The response " \
                   "is 503 if all workers hang for worker_timeout, otherwise 200. Threads that are only busy do not " \
                   "matter. With worker_timeout 0 or max_workers 0 the response is always 200.",
                   section: TITLE),
        Option.new("max_keepalive_requests", COUNT, 0,
                   "Maximum number of requests on a connection. 0: no limit.",
                   section: TITLE, core: true)
      ].freeze
    end
  end
end
