# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # What a client may send.
    module Limits
      include OptionValues

      TITLE = "What a request may be"

      OPTIONS = [
        Option.new("MaxTarget", OptionTypes::Size.new(64..(1 << 20)), 16 * 1024,
                   "Bytes of the request target. Longer: 414.",
                   section: TITLE, core: true),
        Option.new("MaxFieldBytes", OptionTypes::Size.new(256..(16 << 20)), 64 * 1024,
                   "Bytes of all fields of a request head. More: 431.",
                   section: TITLE, core: true),
        Option.new("MaxFields", OptionTypes::Count.new(1..4096), 128,
                   "Fields of a request head. More: 431.",
                   section: TITLE, core: true),
        Option.new("MaxBody", SIZE, 0,
                   "Bytes of a request body. Longer: 413. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("AllowUnderscoreHeaders", SWITCH, false,
                   "Keep request fields with _ in their names, which CGI's form makes equal to those with -.",
                   section: TITLE, core: true),
        Option.new("MaxConnections", COUNT, 0,
                   "Connections of one worker. At the limit, and without free descriptors, the longest idle one " \
                   "goes. While none is idle, responses end their connections, and new clients are served if their " \
                   "requests are whole. For other new clients the slowest ones go, ten a second: requests with " \
                   "408, readers of responses with a reset. If that is not enough: 503. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("MaxQueue", COUNT, 0,
                   "Requests that may wait, in the whole server, while all workers are busy. One more: 503 with " \
                   "Retry-After at once, before what is still to come of its body is read. The connection stays, if " \
                   "all of the request is here. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("HealthPaths", OptionTypes::Paths.new, [].freeze,
                   "Paths, with spaces between them, of requests that ask whether the server is there: they are not " \
                   "refused for MaxQueue or QueueTimeout, however long they wait.",
                   section: TITLE),
        Option.new("MaxKeepaliveRequests", COUNT, 0,
                   "Requests on one connection. 0: no limit.",
                   section: TITLE, core: true)
      ].freeze
    end
  end
end
