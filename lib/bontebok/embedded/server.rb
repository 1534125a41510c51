# frozen_string_literal: true

require "rack"

require_relative "../log/callers_log"
require_relative "server_config"
require_relative "server_run"

module Bontebok
  # A server for programs and tests: it serves a Rack application in threads of the program's process. It sets no signal
  # handler (SIGPIPE: docs/decisions/0022-the-host-keeps-its-sigpipe.md) and no exit handler, forks nothing, and changes
  # no setting of the process. A worker of the command bontebok has the same threads, limits and listeners.
  #
  #   server = Bontebok::Server.new(app, threads: 4).start
  #   Net::HTTP.get(URI("http://#{server.addresses.first}/"))
  #   server.stop
  #
  # docs/EMBEDDING.md describes the options and methods.
  class Server
    # options: `listen`, an address or several; with port 0 the kernel chooses the port. `log`: see CallersLog. The
    # others are those of ServerConfig, which also reads the names of other servers. Raises ArgumentError.
    def initialize(app, **options)
      raise ArgumentError, "#{app.class} does not respond to call: no Rack application" unless app.respond_to?(:call)

      @app = app
      given, log, advice = ServerConfig.arguments(options)
      @config = ServerConfig.for(given, notes: advice)
      @log = CallersLog.for(log, format: @config[:log_format], level: @config[:log_level])
      @lock = Mutex.new
    end

    # Returns the server when clients can connect. If the server runs already, nothing happens. A server that has been
    # stopped can start again. Raises StartError.
    def start
      @lock.synchronize do
        unless running?
          @run&.disown
          @run = ServerRun.new(@config, @app, @log)
          @run.start
        end
      end
      self
    rescue ThreadError, SystemCallError => e
      raise StartError, "cannot start the server: #{e.message}"
    end

    # True from #start until #stop is called.
    def running?
      run = @run
      run ? run.alive? && !run.stopping? : false
    end

    # The addresses that the server listens on, such as "127.0.0.1:41035", "[::1]:8080" or "unix:/run/app.sock". Empty
    # if the server does not run.
    def addresses
      running? ? @run.addresses : []
    end

    # Ends the server gracefully: no new connection is accepted, and requests and streams are finished. After `seconds`
    # (default: graceful_timeout), threads that still have a request are killed, the connections of these requests are
    # closed, and streams are reset. Returns true if all requests and streams were finished, false if not. If an
    # application calls this method in a request, it returns nil at once. May be called in any thread and in a signal
    # handler.
    def stop(seconds = @config.seconds(:graceful_timeout))
      run = @run
      run ? run.stop(seconds) : true
    end

    def inspect
      "#<#{self.class} #{running? ? addresses.join(' ') : 'stopped'}>"
    end

    # Waits until the server has stopped, at most `seconds`; nil: no limit. Returns the server, or nil after this time.
    def join(seconds = nil)
      run = @run
      self if run.nil? || run.ended?(seconds)
    end
  end
end
