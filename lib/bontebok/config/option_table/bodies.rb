# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # The options of request bodies and of responses.
    module Bodies
      include OptionValues

      TITLE = "Bodies and responses"

      OPTIONS = [
        Option.new("SpoolThreshold", SIZE, 1 << 20,
                   "Maximum size of a request body in memory. A longer body goes to a file in SpoolDir.",
                   section: TITLE, core: true),
        Option.new("SpoolDir", DIRECTORY, "/tmp",
                   "Directory for files with bodies. It holds request bodies above SpoolThreshold and responses " \
                   "above ResponseBuffer. It should be on a disk, not in memory. If the option is set, TMPDIR is " \
                   "set to it as well, for Rack's own temporary files.",
                   section: TITLE, environment_variables: ["TMPDIR"]),
        Option.new("SpoolMax", SIZE, 1 << 30,
                   "Maximum size of the bodies that a worker holds. All request bodies count, and the responses in " \
                   "SpoolDir. If there is no room for a request body, the client gets 507. Responses may take three " \
                   "quarters of this size. If there is no room for a response, its thread waits for the client, as " \
                   "long as no other request waits for a thread. If another request waits, at most half of the " \
                   "server's threads may wait for clients. For each waiting thread above this limit, the connection " \
                   "of the client that reads slowest is reset. The only thread of a server may wait for 1 s. 0: no " \
                   "limit.",
                   section: TITLE, core: true),
        Option.new("ResponseBuffer", SIZE, 1 << 20,
                   "Maximum size of a response's unsent part in memory. If a client is too slow, the rest goes to a " \
                   "file in SpoolDir, and the thread serves the next request. All connections of a worker together " \
                   "may use 64 times this size. Beyond that, all unsent bytes go to files.",
                   section: TITLE, core: true),
        Option.new("ChunkedTransfer", SWITCH, true,
                   "Send responses of unknown length in chunks. This is for HTTP/1.1 clients. false: the end of the " \
                   "connection ends such a response.",
                   section: TITLE, core: true),
        Option.new("FrozenEnv", SWITCH, false,
                   "Share frozen values between the env of requests. A value that stays the same is created once. " \
                   "This is faster, but the application must not change a string in env.",
                   section: TITLE),
        Option.new("Server", PRODUCT, "",
                   "Value of the field Server in responses. Empty: no such field.",
                   section: TITLE)
      ].freeze
    end
  end
end
