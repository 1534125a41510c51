# frozen_string_literal: true

require "minitest"
require "tmpdir"
require_relative "../../support"
require_relative "sus_report"

module Conform
  # Runs socketry/rack-conform against one server, for test/conform/rack_conform. The server listens on a port that only
  # this run uses. The suite can start a server itself, but only on a fixed port. So this class starts the server, and
  # the suite gets only the address.
  class RackConformRun
    # The commands of other servers.
    PEERS = { "puma" => ->(port, app) { ["puma", "-q", "-b", "tcp://127.0.0.1:#{port}", app] },
              "falcon" => lambda { |port, app|
                ["falcon", "serve", "-n", "1", "-b", "http://127.0.0.1:#{port}", "-c", app]
              } }.freeze
    SUITE_SECONDS = 120
    START_SECONDS = 60

    # path: the suite's checkout. server: "bontebok", or a name of PEERS.
    def initialize(path, server: "bontebok", verbose: false)
      @path = path
      @server = server
      @verbose = verbose
    end

    # Prints the end of the suite's output. Returns true if all tests have passed.
    def run
      Dir.mktmpdir("bontebok-conform-") do |directory|
        app = File.join(directory, "config.ru")
        File.write(app, application)
        report = serve(directory, app) { |address| test(address) }
        puts @verbose ? report.text : report.closing_lines, report.verdict
        report.passed?
      end
    end

    private

    # Rack 2 returns an Array from parse_file, with the application first.
    def application
      <<~RUBY
        require "rack"
        use Rack::Lint
        run Array(Rack::Builder.parse_file(#{File.join(@path, 'config.ru').dump})).first
      RUBY
    end

    # Yields the address of the server.
    def serve(directory, app, &block)
      @server == "bontebok" ? serve_own(directory, &block) : serve_peer(app, &block)
    end

    def serve_own(directory)
      server = Support::BontebokProcess.new(directory, listen: :tcp, args: %w[-w 1 -t 3], env: bundled)
      yield server.wait_until_ready.address.to_s
    ensure
      end_server(server)
    end

    def serve_peer(app)
      held = Support::HeldPort.new("127.0.0.1")
      server = Support::ChildProcess.new("bundle", "exec", *PEERS.fetch(@server).call(held.number, app), env: bundled)
      Support::Eventually.eventually("#{@server} listens", limit: START_SECONDS) { connects?(held.number) }
      yield "127.0.0.1:#{held.number}"
    ensure
      end_server(server)
      held&.release
    end

    def end_server(server)
      return unless server

      server.signal("TERM")
      server.wait
    ensure
      server&.kill
      warn server.output.text if server && @verbose
    end

    def connects?(port)
      TCPSocket.new("127.0.0.1", port).close
      true
    rescue Errno::ECONNREFUSED
      false
    end

    def test(address)
      env = bundled.merge("RACK_CONFORM_ENDPOINT" => "http://#{address}", "RACK_CONFORM_SERVER" => nil)
      suite = Support::ChildProcess.run("bundle", "exec", "sus", "--verbose", env: env, chdir: @path,
                                                                              limit: SUITE_SECONDS)
      SusReport.new(suite.output.text, suite.status.success?)
    end

    # The environment of the suite, the application and the peers: Bundler's, with the suite's own directory.
    def bundled
      { "RUBYOPT" => ENV.fetch("RUBYOPT", nil), "RUBYLIB" => File.join(@path, "lib") }
    end
  end
end
