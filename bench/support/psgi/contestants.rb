# frozen_string_literal: true

require_relative "../contestants"
require_relative "ours"

module Bench
  module Psgi
    # The servers of bench/psgi. Each has one process, or one worker and its master.
    #
    # how: the settings, which stand beside the figures. modules: the Perl modules that the server needs, the one with
    # its version first; those of PACKAGES that are missing can be installed. command: a Proc that takes the address and
    # the mode (:close or :kept). app: of bench/apps/psgi.
    Contestant = Struct.new(:name, :how, :modules, :command, :app, keyword_init: true) do
      # libs: directories with Perl modules that are not installed. A server that finds SERVER_STARTER_PORT would not
      # listen on its own address.
      def env(libs)
        { "PLACK_ENV" => "deployment", "SERVER_STARTER_PORT" => nil,
          "PERL5LIB" => [*libs, *ENV.fetch("PERL5LIB", nil)].join(":") }
      end

      def command_on(address, mode) = [*command.call(address, mode), *(File.join(APPS, app) if app)]
    end

    APPS = File.join(Bench::Contestants::APPS, "psgi")
    FLOOR = "floor"
    CORE = "core_host"
    OURS = "bontebok"
    GAZELLE = "Gazelle"
    FEERSUM = "Feersum"
    # Requests after which a worker or a connection may end: later than a run does.
    MANY = 1_000_000_000
    PLAIN = "hello.psgi"
    # Starman sends chunks if the response has no Content-Length, which takes it longer.
    LENGTH = "hello_length.psgi"
    # { Perl module => Debian package }
    PACKAGES = { "Plack" => "libplack-perl", "Starlet" => "starlet", "Starman" => "starman", "Feersum" => "feersum",
                 "Twiggy" => "twiggy", "EV" => "libev-perl", "HTTP::Parser::XS" => "libhttp-parser-xs-perl",
                 "Guard" => "libguard-perl", "Parallel::Prefork" => "libparallel-prefork-perl",
                 "Server::Starter" => "libserver-starter-perl",
                 "Stream::Buffered" => "libstream-buffered-perl" }.freeze

    # plackup with a server, its options, and the address unless it is nil.
    PLACKUP = lambda do |server, address, *options|
      ["plackup", "-E", "deployment", "-s", server, *(["-l", address] if address), *options]
    end

    COMMANDS = {
      FLOOR => ->(address, mode) { Bench::Contestants.floor(address, mode).command },
      CORE => ->(address, _mode) { Bench::Contestants.core(address).command },
      OURS => lambda do |address, _mode|
        PLACKUP.call("Bontebok", address, *Ours::LIBS.flat_map { |lib| ["-I", lib] }, "--max-workers", "0")
      end,
      # Gazelle cannot open a unix socket itself. It closes each connection.
      GAZELLE => lambda do |address, _mode|
        own = Bench::Contestants.unix?(address) ? nil : address
        starter = own ? [] : ["start_server", "--path=#{address}", "--"]
        [*starter, *PLACKUP.call(GAZELLE, own, "--max-workers=1", "--max-reqs-per-child=#{MANY}")]
      end,
      "Starlet" => lambda do |address, mode|
        kept = mode == :kept ? ["--max-keepalive-reqs=#{MANY}"] : []
        PLACKUP.call("Starlet", address, "--max-workers=1", "--max-reqs-per-child=#{MANY}", *kept)
      end,
      "Starman" => lambda do |address, _mode|
        ["starman", "-E", "deployment", "-l", address, "--workers", "1", "--max-requests", MANY.to_s, "--preload-app"]
      end,
      # Version 1.410, Debian's, ignores --keepalive and closes each connection.
      FEERSUM => ->(address, _mode) { PLACKUP.call(FEERSUM, address, "--keepalive=1") },
      "Twiggy" => ->(address, _mode) { PLACKUP.call("Twiggy", address) }
    }.freeze

    # { name => [how, modules, application] }
    SETTINGS = {
      FLOOR => ["C, a fixed response to each read", [], nil],
      CORE => ["C, the core and a fixed response", [], nil],
      OURS => ["1 process", %w[Plack::Handler::Bontebok Plack], PLAIN],
      GAZELLE => ["1 worker and its master; unix: start_server",
                  %w[Gazelle Plack Guard Parallel::Prefork Server::Starter Stream::Buffered], PLAIN],
      "Starlet" => ["1 worker and its master, HTTP::Parser::XS; kept: --max-keepalive-reqs",
                    %w[Starlet Plack HTTP::Parser::XS], PLAIN],
      "Starman" => ["1 worker and its master, --preload-app, Content-Length from the application",
                    %w[Starman Plack HTTP::Parser::XS], LENGTH],
      FEERSUM => ["1 process, --keepalive=1", %w[Feersum Plack EV], PLAIN],
      "Twiggy" => ["1 process, EV, HTTP::Parser::XS", %w[Twiggy Plack EV HTTP::Parser::XS], PLAIN]
    }.freeze

    CONTESTANTS = SETTINGS.to_h do |name, (how, modules, app)|
      [name, Contestant.new(name: name, how: how, modules: modules, command: COMMANDS.fetch(name), app: app)]
    end.freeze
    PEERS = (CONTESTANTS.keys - [FLOOR, CORE, OURS]).freeze
  end
end
