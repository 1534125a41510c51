# frozen_string_literal: true

require_relative "commands"

module Bench
  module Psgi
    # The servers that can be measured.
    #
    # details: what the table says in addition to the number of processes. single: the server has one process if no
    # workers are asked for. modules: the Perl modules that the server needs, the one with its version first; those of
    # PACKAGES that are missing can be installed. app: the file of bench/apps/psgi that says hello.
    Contestant = Struct.new(:name, :details, :single, :modules, :app, keyword_init: true) do
      # libs: directories with Perl modules that are not installed. A server that finds SERVER_STARTER_PORT would not
      # listen on its own address.
      def env(libs)
        { "PLACK_ENV" => "deployment", "SERVER_STARTER_PORT" => nil,
          "PERL5LIB" => [*libs, *ENV.fetch("PERL5LIB", nil)].join(":") }
      end

      # app: another file of bench/apps/psgi.
      def command_on(address, settings, app = self.app)
        [*Commands.public_send(name.downcase, address, settings), *(File.join(APPS, app) if self.app)]
      end

      # The settings, which stand beside the figures.
      def how(settings)
        processes = single && settings.workers.zero? ? "1 process" : settings.master
        [(processes if modules.any?), details].compact.join(", ")
      end

      # Why the server cannot have so many workers, or nil.
      def fault(workers) = ("it has no workers" if workers > 1 && single == :always)
    end

    APPS = File.join(Bench::Contestants::APPS, "psgi")
    PLAIN = "hello.psgi"
    # Starman sends chunks if the response has no Content-Length, which takes it longer.
    LENGTH = "hello_length.psgi"
    # { Perl module => Debian package }
    PACKAGES = { "Plack" => "libplack-perl", "Starlet" => "starlet", "Starman" => "starman", "Feersum" => "feersum",
                 "Twiggy" => "twiggy", "EV" => "libev-perl", "HTTP::Parser::XS" => "libhttp-parser-xs-perl",
                 "Guard" => "libguard-perl", "Parallel::Prefork" => "libparallel-prefork-perl",
                 "Server::Starter" => "libserver-starter-perl", "Stream::Buffered" => "libstream-buffered-perl",
                 "AnyEvent" => "libanyevent-perl", "IO::FDPass" => "libio-fdpass-perl" }.freeze

    # { name => [details, single, modules, application] }
    ROWS = {
      FLOOR => ["C, a fixed response to each read", true, [], nil],
      CORE => ["C, the core and a fixed response", true, [], nil],
      OURS => [nil, true, %w[Plack::Handler::Bontebok Plack], PLAIN],
      GAZELLE => ["unix: start_server", false,
                  %w[Gazelle Plack Guard Parallel::Prefork Server::Starter Stream::Buffered], PLAIN],
      STARLET => ["HTTP::Parser::XS; kept: --max-keepalive-reqs", false, %w[Starlet Plack HTTP::Parser::XS], PLAIN],
      MONOCEROS => ["and a manager of connections, EV, HTTP::Parser::XS", false,
                    %w[Monoceros Plack EV AnyEvent IO::FDPass POSIX::getpeername Starlet HTTP::Parser::XS], PLAIN],
      "Starman" => ["--preload-app, Content-Length from the application", false,
                    %w[Starman Plack HTTP::Parser::XS], LENGTH],
      FEERSUM => ["--keepalive=1", true, %w[Feersum Plack EV], PLAIN],
      "Twiggy" => ["EV, HTTP::Parser::XS", :always, %w[Twiggy Plack EV HTTP::Parser::XS], PLAIN]
    }.freeze

    CONTESTANTS = ROWS.to_h do |name, (details, single, modules, app)|
      [name, Contestant.new(name: name, details: details, single: single, modules: modules, app: app)]
    end.freeze
    PEERS = (CONTESTANTS.keys - [FLOOR, CORE, OURS]).freeze
  end
end
