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
                   "is one that the kernel chooses. A unix socket has mode 0777. $PORT is the port of the default " \
                   "address.",
                   section: TITLE, short: "l", repeated: true, environment_variable: "PORT",
                   default_text: "127.0.0.1:9292 in development, else 0.0.0.0:9292"),
        Option.new("BackLog", OptionTypes::Count.new(1..65_535), 1024,
                   "Connections that may wait to be accepted, per listener. The kernel's own limit " \
                   "(net.core.somaxconn) holds as well.",
                   section: TITLE, key: :backlog),
        Option.new("ReusePort", SWITCH, false,
                   "Let other servers listen on the same TCP port (SO_REUSEPORT).",
                   section: TITLE, aliases: [:reuseport])
      ].freeze
    end
  end
end
