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
        Option.new("MaxTarget", OptionTypes::Size.new(64..(1 << 20)), 16 * 1024,
                   "Maximum size of a request target. If it is longer, the client gets 414.",
                   section: TITLE, core: true),
        Option.new("MaxFieldBytes", OptionTypes::Size.new(256..(16 << 20)), 64 * 1024,
                   "Maximum size of all fields of a request head. If they are longer, the client gets 431.",
                   section: TITLE, core: true),
        Option.new("MaxFields", OptionTypes::Count.new(1..4096), 128,
                   "Maximum number of fields of a request head. If there are more, the client gets 431.",
                   section: TITLE, core: true),
        Option.new("MaxBody", SIZE, 0,
                   "Maximum size of a request body. If it is longer, the client gets 413. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("AllowUnderscoreHeaders", SWITCH, false,
                   "Keep request fields with _ in their names. In env such a field has the same name as one with -. " \
                   "false: such fields are dropped.",
                   section: TITLE, core: true),
        Option.new("MaxConnections", COUNT, 0,
                   "Maximum number of connections of a worker. At the limit, or without free descriptors, the worker " \
                   "closes the connection that has been idle for the longest time. While no connection is idle, each " \
                   "response closes its connection, and a new client is served if its whole request is there. To " \
                   "make room for other new clients, the worker ends the slowest clients, ten per second: a client " \
                   "that sends slowly gets 408, a client that reads slowly gets a reset. If that is not enough, a " \
                   "new client gets 503. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("MaxQueue", COUNT, 0,
                   "Maximum number of requests that wait for a worker. All requests of the server count that wait " \
                   "while all workers are busy. A further request gets 503 with Retry-After at once, before the rest " \
                   "of its body is read. Its connection stays open if the whole request is there. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("HealthPaths", OptionTypes::Paths.new, [].freeze,
                   "Paths of health checks, with spaces between them. MaxQueue and QueueTimeout never reject a " \
                   "request for such a path, however long it waits.",
                   section: TITLE),
        Option.new("MaxKeepaliveRequests", COUNT, 0,
                   "Maximum number of requests on a connection. 0: no limit.",
                   section: TITLE, core: true)
      ].freeze
    end
  end
end
