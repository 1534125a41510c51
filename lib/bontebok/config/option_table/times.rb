# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # The timeouts of requests, connections and workers.
    module Times
      include OptionValues

      TITLE = "Timeouts"

      OPTIONS = [
        Option.new("header_timeout", DURATION, 30_000,
                   "Time for a whole request head. The time begins with the first byte. After this time, the client " \
                   "gets 408.",
                   section: TITLE, core: true),
        Option.new("body_timeout", DURATION, 60_000,
                   "Maximum pause while a request body arrives. After a longer pause, the client gets 408.",
                   section: TITLE, core: true),
        Option.new("min_body_rate", BYTES_PER_SECOND, 500,
                   "Minimum rate of a body, in bytes per second. If a request body is slower after its first 10 s, " \
                   "the client gets 408. A client that reads a response may be 64 KiB behind this rate. If the " \
                   "client is slower, its connection is reset. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("write_timeout", DURATION, 60_000,
                   "Time for which a client may read nothing of a response. The connection is reset after this time, " \
                   "or up to a quarter of this time later.",
                   section: TITLE, core: true),
        Option.new("request_timeout", DURATION, 0,
                   "Time for the application to serve a request. After this time, the client gets 504, or is " \
                   "disconnected if a part of the response has been sent. The log shows where the application is, " \
                   "and the worker is replaced. If requests hang in all threads of the worker, its other connections " \
                   "go to other workers, and the worker is killed within 1 s. With max_workers 0 the thread is not " \
                   "ended. The time for which the thread waits for its client does not count. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("request_timeout_soft", DURATION, 0,
                   "Time after which an exception ends a request. `Bontebok::RequestTimeout` is raised in the " \
                   "request's thread, and the log shows the backtrace. The worker continues to serve. " \
                   "request_timeout should be longer, because it ends requests that continue after the exception. 0: " \
                   "no exception.",
                   section: TITLE, core: true),
        Option.new("worker_timeout", DURATION, 0,
                   "Time for which a busy worker may hang. A worker hangs if its process is frozen (SIGSTOP), or if " \
                   "a C extension keeps Ruby's lock. After this time the worker is killed and replaced, and the log " \
                   "names its requests. A frozen worker is killed even if it has no request. A worker does not hang " \
                   "while a request runs or waits in Ruby for a long time. 0: no limit. No effect with max_workers 0.",
                   section: TITLE, core: true, default_text: "60; off in development"),
        Option.new("queue_timeout", DURATION, 0,
                   "Maximum wait of a request while all workers are busy. The wait begins when the last byte of the " \
                   "request is read, or when a worker accepts a new connection with its whole request. The time in a " \
                   "proxy (X-Request-Start) does not count. After the maximum wait, the request gets 503 with " \
                   "Retry-After, and the connection stays open. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("hijack_timeout", DURATION, nil,
                   "Time for hijacked connections. It begins when their worker stops. It also applies to streams " \
                   "that last longer than their requests. A worker that only waits for such connections does not " \
                   "count as an additional process. After this time, the connections are closed.",
                   section: TITLE, default_text: "that of graceful_timeout"),
        Option.new("keepalive_timeout", DURATION, 75_000,
                   "Time that a connection may be idle between requests. 0: each response closes its connection.",
                   section: TITLE, core: true),
        Option.new("keepalive_drain", DURATION, 2000,
                   "Time that a connection of a stopping worker may be idle. A thread of this worker also waits for " \
                   "this time if a client reads nothing of its response.",
                   section: TITLE, core: true)
      ].freeze
    end
  end
end
