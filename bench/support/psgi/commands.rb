# frozen_string_literal: true

require_relative "../contestants"
require_relative "ours"
require_relative "settings"

module Bench
  module Psgi
    FLOOR = "floor"
    CORE = "core_host"
    OURS = "bontebok"
    GAZELLE = "Gazelle"
    STARLET = "Starlet"
    FEERSUM = "Feersum"
    MONOCEROS = "Monoceros"

    # The commands that start the servers. Each function gets the address and the Settings.
    module Commands
      START_SERVER = "start_server"

      module_function

      def floor(address, settings) = Bench::Contestants.floor(address, settings.mode).command
      def core_host(address, _settings) = Bench::Contestants.core(address).command

      def bontebok(address, settings)
        options = settings.workers.zero? ? ["--max-workers=0"] : prefork(settings)
        plackup("Bontebok", address, settings, *Ours::LIBS.flat_map { |lib| ["-I", lib] }, *options)
      end

      # Gazelle cannot open a unix socket itself. It closes each connection.
      def gazelle(address, settings)
        settings = settings.started_by_starter if Bench::Contestants.unix?(address)
        plackup("Gazelle", address, settings, *prefork(settings))
      end

      def starlet(address, settings)
        kept = settings.mode == :kept ? ["--max-keepalive-reqs=#{settings.connection_requests}"] : []
        plackup("Starlet", address, settings, *prefork(settings), *kept)
      end

      def starman(address, settings)
        ["starman", "-E", "deployment", "-l", address, "--workers", settings.least_workers.to_s,
         "--max-requests", settings.worker_requests.to_s, "--preload-app", *settings.more]
      end

      # Its manager process keeps the idle connections. --keepalive-timeout: its default is 10 s.
      def monoceros(address, settings)
        where = Bench::Contestants.unix?(address) ? "--socket-path=#{address}" : "--listen=#{address}"
        ["plackup", "-E", "deployment", "-s", "Monoceros", where, *prefork(settings), "--keepalive-timeout=3600",
         *settings.more]
      end

      # Version 1.410, Debian's, ignores --keepalive and closes each connection. --read-timeout: its default of 5 s is
      # also the limit for idle connections.
      def feersum(address, settings)
        workers = settings.workers.zero? ? [] : ["--pre-fork=#{settings.workers}"]
        plackup("Feersum", address, settings, "--keepalive=1", "--read-timeout=3600", *workers)
      end

      def twiggy(address, settings) = plackup("Twiggy", address, settings)

      def plackup(server, address, settings, *options)
        command = ["plackup", "-E", "deployment", "-s", server, *options, *settings.more]
        settings.starter ? [*start_server(address), *command] : [*command, "-l", address]
      end

      def start_server(address)
        [START_SERVER, "--#{Bench::Contestants.unix?(address) ? 'path' : 'port'}=#{address}", "--"]
      end

      def prefork(settings)
        ["--max-workers=#{settings.least_workers}", "--max-reqs-per-child=#{settings.worker_requests}"]
      end

      private_class_method :plackup, :start_server, :prefork
    end
  end
end
