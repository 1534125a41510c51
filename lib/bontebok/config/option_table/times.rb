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
        Option.new("Timeout", DURATION, nil,
                   "HeaderTimeout, BodyTimeout and WriteTimeout in one. The value applies to each of the three that " \
                   "is not set itself.",
                   section: TITLE),
        Option.new("HeaderTimeout", DURATION, 30_000,
                   "Time for a whole request head. It begins with the first byte. After it, the client gets 408.",
                   section: TITLE, core: true),
        Option.new("BodyTimeout", DURATION, 60_000,
                   "Maximum pause while a request body arrives. After it, the client gets 408.",
                   section: TITLE, core: true),
        Option.new("MinBodyRate", BYTES_PER_SECOND, 500,
                   "Minimum rate of a body, in bytes per second. If a request body is slower after its first 10 s, " \
                   "the client gets 408. A client that reads its response may be 64 KiB behind this rate; if it is " \
                   "slower, its connection is reset. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("WriteTimeout", DURATION, 60_000,
                   "Time for which a client may take nothing of a response. After it, the connection is reset, with " \
                   "a delay of at most a quarter of this time.",
                   section: TITLE, core: true),
        Option.new("RequestTimeout", DURATION, 0,
                   "Time for the application to serve a request. After it, the client gets 504, or is disconnected " \
                   "if it has a part of the response. The log shows where the application is, and the worker is " \
                   "replaced. If requests hang in all threads of the worker, the worker is killed as soon as its " \
                   "other connections are passed on, after 1 s at the latest. With MaxWorkers 0 the thread is not " \
                   "ended. The time for which the thread waits for its client does not count. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("RequestTimeoutSoft", DURATION, 0,
                   "Time after which an exception ends a request. `Bontebok::RequestTimeout` is raised in the " \
                   "request's thread, and the log shows where. The worker keeps serving. RequestTimeout should be " \
                   "longer: it ends requests that continue after the exception. 0: no exception.",
                   section: TITLE, core: true),
        Option.new("WorkerTimeout", DURATION, 0,
                   "Time for which a busy worker may hang. A worker hangs if its process is stopped, or if a C " \
                   "extension keeps Ruby's lock. After this time the worker is killed and replaced, and the log " \
                   "names its requests. A worker whose process is stopped is killed even if it has no request. A " \
                   "request that runs or waits for long in Ruby is no hang. 0: no limit. No effect with MaxWorkers " \
                   "0.",
                   section: TITLE, core: true, default_text: "60; 0 in development"),
        Option.new("QueueTimeout", DURATION, 0,
                   "Maximum wait of a request while all workers are busy. The wait begins when the last byte of the " \
                   "request is read, or when a worker accepts a new connection with its whole request. A worker " \
                   "measures the wait with its own clock. After this time, the request gets 503 with Retry-After, " \
                   "and the connection stays open. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("KeepaliveTimeout", DURATION, 75_000,
                   "Time that a connection may be idle between requests. 0: each response closes its connection.",
                   section: TITLE, core: true),
        Option.new("KeepaliveDrain", DURATION, 2000,
                   "Time that a connection of a stopping worker may be idle. For the same time, a thread of that " \
                   "worker waits for a client that takes nothing of its response.",
                   section: TITLE, core: true)
      ].freeze
    end
  end
end
