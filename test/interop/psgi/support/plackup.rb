# frozen_string_literal: true

require_relative "../../../conform/support/psgi_process"

module Interop
  # Runs `plackup -s Bontebok -E deployment` with two workers in its own process group.
  class Plackup < Support::ServerProcess
    APPS = File.expand_path("../apps", __dir__)
    BLIB = File.join(Conform::PsgiProcess::PERL, "blib")
    WORKERS = 2
    # Variables that a developer's shell may have.
    ENVIRONMENT = { "PLACK_ENV" => nil, "PLACK_SERVER" => nil }.freeze

    attr_reader :addresses

    # directory: the working directory. application: the name of a file in ../apps, or a path, without .psgi. addresses:
    # as for Support::Address. args: further arguments of plackup. under: a command that executes plackup. library: a
    # directory of further modules.
    def initialize(directory, application, addresses, args: [], under: [], library: nil, env: {})
      Conform::PsgiProcess.build
      @addresses = addresses.map { |address| Support::Address.new(address) }
      libraries = ["#{BLIB}/lib", "#{BLIB}/arch", *library, *ENV.fetch("PERL5LIB", nil)]
      super(*starter(addresses), *under, "plackup", "-s", "Bontebok", "-E", "deployment", "--max-workers", WORKERS.to_s,
            *listeners(addresses), *args, File.expand_path("#{application}.psgi", APPS),
            env: { **ENVIRONMENT, "PERL5LIB" => libraries.join(":"), **env }, chdir: directory)
    end

    # plackup does not log that the server listens.
    def wait_until_ready
      addresses.each do |address|
        Support::Eventually.eventually("#{address} to accept connections", seen: -> { output.text }) do
          raise Support::Error, "process #{pid} ended:\n#{output.text}" unless running?

          Support::Client.accepted?(address)
        end
      end
      self
    end

    # Waits until all workers exist. Returns their process ids.
    def workers
      Support::Eventually.eventually("#{WORKERS} workers", seen: -> { output.text }) do
        found = master && Support::ProcessTable.children(master).map(&:pid)
        found if found && found.size == WORKERS
      end
    end

    private

    def master = pid

    def starter(_addresses) = []

    def listeners(addresses) = addresses.flat_map { |address| ["--listen", address.delete_prefix("unix:")] }
  end

  # The same under start_server, which opens the listeners: a TCP port and a unix socket.
  class StartServer < Plackup
    # options: of start_server.
    def initialize(*args, options: [], **more)
      @options = options
      super(*args, **more)
    end

    private

    # nil while start_server has none, or two.
    def master
      masters = Support::ProcessTable.children(pid)
      masters.first.pid if masters.one?
    end

    def starter(addresses)
      tcp, unix = addresses
      ["start_server", "--port", tcp, "--path", unix.delete_prefix("unix:"), *@options, "--"]
    end

    def listeners(_addresses) = []
  end
end
