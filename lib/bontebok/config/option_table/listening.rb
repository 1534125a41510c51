# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # Where clients come in.
    module Listening
      include OptionValues

      TITLE = "Listening"

      OPTIONS = [
        Option.new("Listen", OptionTypes::Addresses.new, nil,
                   "Address: #{Address::FORMS}. May be given several times. PORT alone is 0.0.0.0:PORT; port 0 " \
                   "is one that the kernel chooses. A name is all its addresses that this machine has; [::] is both " \
                   "families, beside 0.0.0.0 of the same port IPv6 alone. $PORT is the port of the default address.",
                   section: TITLE, short: "l", repeated: true, environment_variables: ["PORT"],
                   default_text: "127.0.0.1:9292 in development, else 0.0.0.0:9292; none beside adopted ones"),
        Option.new("BackLog", OptionTypes::Count.new(1..65_535), 1024,
                   "Connections that may wait to be accepted, per listener. The kernel's own limit " \
                   "(net.core.somaxconn) holds as well.",
                   section: TITLE, key: :backlog),
        Option.new("ReusePort", SWITCH, false,
                   "Let other servers listen on the same TCP port (SO_REUSEPORT).",
                   section: TITLE, aliases: [:reuseport]),
        Option.new("Spread", SWITCH, true,
                   "Share new connections out evenly: a worker that has served more than the others goes to the end " \
                   "of the queue of those that wait. false: the same few do the work as long as they can, with " \
                   "warm caches.",
                   section: TITLE, core: true),
        Option.new("DeferAccept", OptionTypes::Count.new(0..3600, metavar: "SECONDS"), 0,
                   "Leave a TCP connection to the kernel until the client has sent something, for about so many " \
                   "seconds (TCP_DEFER_ACCEPT). 0: take it at once.",
                   section: TITLE),
        Option.new("TrustedProxies", OptionTypes::Networks.new, "unix 127.0.0.0/8 ::1",
                   "Whose X-Request-Start is believed, which says since when a request waits: addresses and networks " \
                   "with spaces between, unix for who connects to a unix socket. none: nobody's.",
                   section: TITLE),
        Option.new("CheckClientConnection", SWITCH, false,
                   "Do nothing for a request whose client has closed its connection meanwhile, or the half it sends " \
                   "on: so does who gives up, but HTTP allows the latter to who waits for the answer. false: only " \
                   "for one that has waited for busy workers, and whose client is gone for certain: reset, or, " \
                   "on a unix socket, closed.",
                   section: TITLE, core: true),
        Option.new("SocketMode", OptionTypes::FileMode.new, 0o777,
                   "Mode of a unix socket's file. Who may write to it may connect.",
                   section: TITLE),
        Option.new("SocketOwner", ACCOUNT, nil,
                   "Owner of a unix socket's file, a name or a number. To give it away takes root.",
                   section: TITLE),
        Option.new("SocketGroup", ACCOUNT, nil,
                   "Group of a unix socket's file, a name or a number. Other groups than one's own take root.",
                   section: TITLE)
      ].freeze
    end
  end
end
