# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # What happens to bodies of requests and to answers.
    module Bodies
      include OptionValues

      TITLE = "Bodies and answers"

      OPTIONS = [
        Option.new("SpoolThreshold", SIZE, 1 << 20,
                   "Bytes of a request body that stay in memory; a longer one goes to a file in SpoolDir.",
                   section: TITLE, core: true),
        Option.new("SpoolDir", DIRECTORY, "/tmp",
                   "Directory for request bodies past SpoolThreshold, and for answers past ResponseBuffer; on a disk " \
                   "rather than in memory. When it is set here, TMPDIR is set to it as well, for Rack's own " \
                   "temporary files.",
                   section: TITLE, environment_variables: ["TMPDIR"]),
        Option.new("SpoolMax", SIZE, 1 << 30,
                   "Bytes that one worker holds: of all request bodies, and of answers in SpoolDir. A request body " \
                   "for which there is no room: 507; an answer, past three quarters of it: its lane waits for the " \
                   "client, as long as no other request waits. If one does, half of all lanes go on waiting (a " \
                   "single lane for 1 s), and for each of the others the slowest reader is reset. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("ResponseBuffer", SIZE, 1 << 20,
                   "Unsent bytes of an answer that stay in memory; what a client is too slow for goes to a file in " \
                   "SpoolDir, and the lane to the next request. All connections of a worker together have 64 times " \
                   "as much; past that, every unsent byte goes to a file.",
                   section: TITLE, core: true),
        Option.new("ChunkedTransfer", SWITCH, true,
                   "Send answers of unknown length chunked to HTTP/1.1 clients. false: end them by closing.",
                   section: TITLE, core: true),
        Option.new("FrozenEnv", SWITCH, false,
                   "Share request values that stay the same, frozen, between requests: quicker, for applications " \
                   "that change no string in env.",
                   section: TITLE),
        Option.new("Server", PRODUCT, "",
                   "Value of the Server field of answers. Empty: no such field.",
                   section: TITLE)
      ].freeze
    end
  end
end
