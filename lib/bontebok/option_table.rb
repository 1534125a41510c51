# frozen_string_literal: true

require_relative "option"
require_relative "option_values"

module Bontebok
  # The one table of options. The command line, the configuration file, --help, --check and docs/CONFIGURATION.md are
  # made from it, and so are the core's settings: an option is added here and nowhere else.
  module OptionTable
    LISTENING = "Listening"
    PROCESSES = "Application and processes"
    LIMITS = "What a request may be"
    TIMES = "Time"
    BODIES = "Bodies and answers"
    LOGS = "Logs"

    include OptionValues

    ALL = [
      Option.new("Listen", OptionTypes::Addresses.new, nil,
                 "Address: #{Address::FORMS}. May be given several times. PORT alone is 0.0.0.0:PORT; port 0 " \
                 "is one that the kernel chooses. A unix socket has mode 0777.",
                 section: LISTENING, short: "l", repeated: true,
                 default_text: "127.0.0.1:9292 in development, else 0.0.0.0:9292"),
      Option.new("BackLog", OptionTypes::Count.new(1..65_535), 1024,
                 "Connections that may wait to be accepted, per listener. The kernel's own limit " \
                 "(net.core.somaxconn) holds as well.",
                 section: LISTENING, key: :backlog),
      Option.new("ReusePort", SWITCH, false,
                 "Let other servers listen on the same TCP port (SO_REUSEPORT).",
                 section: LISTENING),

      Option.new("MaxWorkers", OptionTypes::CountOrAuto.new(0..1024, metavar: "N|auto"), :auto,
                 "Worker processes. auto: one per CPU that may be used. 0: one process that forks nothing, for " \
                 "debugging.",
                 section: PROCESSES, short: "w", aliases: [:workers]),
      Option.new("Threads", OptionTypes::Count.new(1..64), 1,
                 "Lanes per worker: requests that one worker serves at the same time, each in a Ruby thread.",
                 section: PROCESSES, short: "t"),
      Option.new("ConfigFile", FILE, nil,
                 "Configuration file in Ruby: a line `name value` for each option, named as its flag with _ for -.",
                 section: PROCESSES, short: "c", aliases: [:config], in_file: false),
      Option.new("Environment", WORD, "development",
                 "The application's environment, put into RACK_ENV. An answer 500 shows the backtrace only in " \
                 "development.",
                 section: PROCESSES, short: "E", environment_variable: "RACK_ENV"),
      Option.new("Rackup", FILE, "config.ru",
                 "The rackup file, or a .rb file whose constant of the same name is the application. It may " \
                 "also be given without a flag, as the last argument.",
                 section: PROCESSES),
      Option.new("Preload", SWITCH, true,
                 "Load the application once, before the workers are forked. false: each worker loads it.",
                 section: PROCESSES),
      Option.new("MaxRequestPerChild", COUNT, 0,
                 "Requests after which a worker is replaced; its replacement is ready before it goes. 0: " \
                 "never. Without effect when MaxWorkers is 0.",
                 section: PROCESSES),
      Option.new("MinRequestPerChild", COUNT, 0,
                 "With MaxRequestPerChild: each worker's own limit is chosen at random between the two. 0: no " \
                 "spread.",
                 section: PROCESSES),
      Option.new("ErrRespawnInterval", DURATION, 1000,
                 "Pause before a worker is started again that ended before it was ready. It doubles with each " \
                 "failure in a row, up to 30 s.",
                 section: PROCESSES),
      Option.new("GracefulTimeout", DURATION, 30_000,
                 "Time that a worker has to finish what is in flight; then it is killed.",
                 section: PROCESSES),

      Option.new("MaxTarget", OptionTypes::Size.new(64..(1 << 20)), 16 * 1024,
                 "Bytes of the request target. Longer: 414.",
                 section: LIMITS, core: true),
      Option.new("MaxFieldBytes", OptionTypes::Size.new(256..(16 << 20)), 64 * 1024,
                 "Bytes of all fields of a request head. More: 431.",
                 section: LIMITS, core: true),
      Option.new("MaxFields", OptionTypes::Count.new(1..4096), 128,
                 "Fields of a request head. More: 431.",
                 section: LIMITS, core: true),
      Option.new("MaxBody", SIZE, 0,
                 "Bytes of a request body. Longer: 413. 0: no limit.",
                 section: LIMITS, core: true),
      Option.new("AllowUnderscoreHeaders", SWITCH, false,
                 "Keep request fields with _ in their names, which CGI's form makes equal to those with -.",
                 section: LIMITS, core: true),
      Option.new("MaxConnections", COUNT, 0,
                 "Connections of one worker. At the limit the longest idle one goes; while none is idle, answers end " \
                 "their connections, and ten new ones a second are accepted all the same. 0: no limit.",
                 section: LIMITS, core: true),
      Option.new("MaxKeepaliveRequests", COUNT, 0,
                 "Requests on one connection. 0: no limit.",
                 section: LIMITS, core: true),

      Option.new("Timeout", DURATION, nil,
                 "One value for HeaderTimeout, BodyTimeout and WriteTimeout where those are not set " \
                 "themselves.",
                 section: TIMES),
      Option.new("HeaderTimeout", DURATION, 30_000,
                 "Time for a whole request head, from its first byte. Longer: 408.",
                 section: TIMES, core: true),
      Option.new("BodyTimeout", DURATION, 60_000,
                 "Time that a request body may make no progress. Longer: 408.",
                 section: TIMES, core: true),
      Option.new("MinBodyRate", BYTES_PER_SECOND, 500,
                 "Bytes per second of a request body after its first 10 s; slower: 408. And of an answer past " \
                 "ResponseBuffer, but for 64 KiB, while its client is waited for; slower: reset. 0: no limit.",
                 section: TIMES, core: true),
      Option.new("WriteTimeout", DURATION, 60_000,
                 "Time that a client may take nothing of its answer. Longer, by a quarter at most: the connection is " \
                 "reset.",
                 section: TIMES, core: true),
      Option.new("KeepaliveTimeout", DURATION, 75_000,
                 "Time that a connection may be idle between requests. 0: every answer closes.",
                 section: TIMES, core: true),
      Option.new("KeepaliveDrain", DURATION, 2000,
                 "Time that a connection may still be idle once a worker has begun to stop.",
                 section: TIMES, core: true),

      Option.new("SpoolThreshold", SIZE, 1 << 20,
                 "Bytes of a request body that stay in memory; a longer one goes to a file in SpoolDir.",
                 section: BODIES, core: true),
      Option.new("SpoolDir", DIRECTORY, "/tmp",
                 "Folder for request bodies past SpoolThreshold. When it is set here, TMPDIR is set to it as " \
                 "well, for Rack's own temporary files.",
                 section: BODIES, environment_variable: "TMPDIR"),
      Option.new("SpoolMax", SIZE, 1 << 30,
                 "Bytes of all bodies that one worker holds, in memory and in SpoolDir. More: 507. 0: no limit.",
                 section: BODIES, core: true),
      Option.new("ResponseBuffer", SIZE, 1 << 20,
                 "Unsent bytes of an answer that stay in memory; past it the lane waits for the client.",
                 section: BODIES, core: true),
      Option.new("ChunkedTransfer", SWITCH, true,
                 "Send answers of unknown length chunked to HTTP/1.1 clients. false: end them by closing.",
                 section: BODIES, core: true),
      Option.new("FrozenEnv", SWITCH, false,
                 "Share request values that stay the same, frozen, between requests: quicker, for applications " \
                 "that change no string in env.",
                 section: BODIES),
      Option.new("Server", PRODUCT, "",
                 "Value of the Server field of answers. Empty: no such field.",
                 section: BODIES),

      Option.new("AccessLog", LOG_TARGET, "",
                 "Where each request is logged: a file or FIFO, - for standard output, or syslog:KEY=VALUE,... with " \
                 "facility, severity, tag and socket. Empty: nowhere.",
                 section: LOGS),
      Option.new("AccessLogFormat", LOG_FORMAT, "combined",
                 "common, combined, ltsv, json, or a line in Apache's notation; docs/LOGS.md has all of it.",
                 section: LOGS)
    ].freeze

    BY_KEY = ALL.to_h { |option| [option.key, option] }.freeze
    BY_FLAG = ALL.flat_map { |option| option.flags.map { |flag| [flag, option] } }.to_h.freeze
    BY_SHORT = ALL.filter_map { |option| ["-#{option.short}", option] if option.short }.to_h.freeze

    module_function

    # The option with this key. Raises KeyError.
    def [](key)
      BY_KEY.fetch(key)
    end

    def core
      ALL.select(&:core?)
    end

    # { section => [options] } in the table's order.
    def sections
      ALL.group_by(&:section)
    end
  end
end
