# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # The options of listeners and of new connections.
    module Listening
      include OptionValues

      TITLE = "Listening"

      OPTIONS = [
        Option.new("listen", OptionTypes::Addresses.new, nil,
                   "Address to listen on. The forms are #{Address::FORMS}. The option may be given several times. " \
                   "PORT alone means 0.0.0.0:PORT. With port 0 the kernel chooses the port. With a host name, the " \
                   "server listens on each address of the name that belongs to this machine. [::] listens on IPv6 " \
                   "and IPv4; if the server also listens on 0.0.0.0 with the same port, [::] listens on IPv6 only. " \
                   "By default, the server listens on 127.0.0.1 and [::1] in development, else on 0.0.0.0. The " \
                   "default port is $PORT, else 9292. A server that gets sockets from systemd or start_server has no " \
                   "default address. docs/DEPLOYMENT.md has all forms of an address.",
                   section: TITLE, short: "l", repeated: true, environment_variables: ["PORT"],
                   default_text: "port 9292"),
        Option.new("backlog", OptionTypes::Count.new(1..65_535), 1024,
                   "Connections per listener that may wait to be accepted. The kernel limits this number, too " \
                   "(net.core.somaxconn).",
                   section: TITLE, rackup_name: "BackLog"),
        Option.new("reuse_port", SWITCH, false,
                   "Let other servers listen on the same address. All of them must have the option. It applies to " \
                   "TCP ports (SO_REUSEPORT) and to files of unix sockets. A server that stops leaves new " \
                   "connections to the other servers.",
                   section: TITLE, aliases: [:reuseport]),
        Option.new("trusted_proxies", OptionTypes::Networks.new, "unix 127.0.0.0/8 ::1",
                   "Proxies with a trusted X-Request-Start. In this request field, a proxy sends the time when it " \
                   "received the request. The value of the option is a list of addresses and networks with spaces " \
                   "between them; unix means all clients of unix sockets. none: no client is trusted.",
                   section: TITLE),
        Option.new("check_client_connection", SWITCH, false,
                   "Skip a request if its client closed the connection. The application is not called for such a " \
                   "request. A client that has closed only its sending half counts as gone, too, although HTTP " \
                   "allows this client to wait for the response. false: the server skips a request only if the " \
                   "request has waited for a busy worker, and its client has reset the connection or closed a unix " \
                   "socket.",
                   section: TITLE, core: true),
        Option.new("socket_mode", OptionTypes::FileMode.new, 0o777,
                   "Mode of the files of unix sockets. A process that may write to such a file may connect.",
                   section: TITLE),
        Option.new("socket_owner", OWNER, nil,
                   "Owner of unix socket files: app, app:www or :www. Each part is a name or a number. Only root can " \
                   "set another user, or a group that the server does not belong to.",
                   section: TITLE)
      ].freeze
    end
  end
end
