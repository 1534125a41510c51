# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # How long things may take.
    module Times
      include OptionValues

      TITLE = "Time"

      OPTIONS = [
        Option.new("Timeout", DURATION, nil,
                   "One value for HeaderTimeout, BodyTimeout and WriteTimeout where those are not set " \
                   "themselves.",
                   section: TITLE),
        Option.new("HeaderTimeout", DURATION, 30_000,
                   "Time for a whole request head, from its first byte. Longer: 408.",
                   section: TITLE, core: true),
        Option.new("BodyTimeout", DURATION, 60_000,
                   "Time that a request body may make no progress. Longer: 408.",
                   section: TITLE, core: true),
        Option.new("MinBodyRate", BYTES_PER_SECOND, 500,
                   "Bytes per second of a request body after its first 10 s; slower: 408. And of a response " \
                   "that its client is slow to take, but for 64 KiB; slower: reset. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("WriteTimeout", DURATION, 60_000,
                   "Time that a client may take nothing of its answer. Longer, by a quarter at most: the connection " \
                   "is reset.",
                   section: TITLE, core: true),
        Option.new("RequestTimeout", DURATION, 0,
                   "Time that the application may take for a request. Longer: the client is answered with 504, or " \
                   "cut off if it has had a part of the answer; the log tells where the application is, and the " \
                   "worker is replaced. If requests hang in all of its threads, it is killed as soon as its other " \
                   "connections are passed on, after 1 s at the latest. With MaxWorkers 0 the thread stays where " \
                   "it is. The time in which the thread waits for its client does not count. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("RequestTimeoutSoft", DURATION, 0,
                   "Time after which `Bontebok::RequestTimeout` is raised in the request's thread, and the log tells " \
                   "where that was; the worker goes on. Below RequestTimeout, which is for requests that do not end " \
                   "all the same. 0: it is not.",
                   section: TITLE, core: true),
        Option.new("WorkerTimeout", DURATION, 0,
                   "Time for which a worker may have a request and not move: its process is stopped, or a C " \
                   "extension keeps Ruby's lock. Longer: the worker is killed and replaced, and the log names its " \
                   "requests. A worker that is stopped without a request is killed as well. A request that runs " \
                   "or waits for long in Ruby is not meant. 0: no limit. Without effect when MaxWorkers is 0.",
                   section: TITLE, core: true, default_text: "60s; in development 0"),
        Option.new("QueueTimeout", DURATION, 0,
                   "Time that a request which is here may wait for a worker while all are busy, from its last byte " \
                   "or, of a new connection, from when a worker accepts it. Longer: 503 with Retry-After, by the " \
                   "workers' own clock. The connection stays. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("KeepaliveTimeout", DURATION, 75_000,
                   "Time that a connection may be idle between requests. 0: every answer closes.",
                   section: TITLE, core: true),
        Option.new("KeepaliveDrain", DURATION, 2000,
                   "Time that a connection may still be idle once a worker has begun to stop, and that a thread then " \
                   "waits for a client that takes nothing of its response.",
                   section: TITLE, core: true)
      ].freeze
    end
  end
end
