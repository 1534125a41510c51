# frozen_string_literal: true

require_relative "../build"
require_relative "../contestants"
require_relative "../process_group"

module Bench
  module Deploys
    # A deploy has not succeeded, or a server has not started.
    class Failed < StandardError; end

    # The superclass of the ways to deploy that bench/deploy measures. A subclass has a NAME, #contestant (the command
    # of a server with two workers), and #deploy, which returns when the deploy is complete, or raises Failed.
    class Kind
      FILES = File.join(Build::ROOT, "bench/apps/deploy")
      CORES = "0,1"
      DEADLINE = 60 # seconds, for each step of a deploy
      # Connections of the clients: a new one for each request, or kept-alive connections.
      MODES = %w[new kept].freeze

      class << self
        def title = self::NAME
        def modes = self::MODES
        # nil: the kind works over TCP and over unix sockets.
        def transport = nil
        def ours? = title.start_with?("bontebok ")
      end

      attr_reader :address

      # address: "127.0.0.1:PORT" or "/path". dir: for the server's files. app: the Application.
      def initialize(address, dir, app)
        @address = address
        @dir = dir
        @app = app
        @servers = []
        @launched = 0
      end

      # Returns when the server accepts connections. Clients can still wait for the application.
      def start
        launch
        raise Failed, "#{name} does not start: #{last_lines}" unless group.ready?
      end

      def finish = @servers.each { |server| server.group.finish }

      private

      # A server that was started. group: its ProcessGroup. log: a path.
      Server = Struct.new(:group, :log)
      private_constant :Server

      def name = self.class.title

      # The server that was started last.
      def group = @servers.last.group
      def log = @servers.last.log

      def launch
        log = File.join(@dir, "server-#{@launched += 1}.log")
        command = contestant
        group = ProcessGroup.new(command.command, env: command.env.merge(@app.env),
                                                  address: @address, core: CORES, log: log)
        @servers << Server.new(group, log)
      end

      # Calls the block, and waits until the log has `count` more lines that match.
      def wait_for_lines(pattern, count = 1)
        from = File.size(log)
        yield
        wait("#{count} more #{pattern.inspect}") { read(from).scan(pattern).size >= count }
      end

      def wait(what)
        limit = now + DEADLINE
        until yield
          raise Failed, "#{name}: not within #{DEADLINE} s: #{what}; the log ends with: #{last_lines}" if now > limit

          sleep 0.01
        end
      end

      def signal(name, pid = group.pid) = Process.kill(name, pid)
      def read(from = 0) = File.read(log, nil, from) || ""
      def last_lines = read.lines.last(9).join
      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      def unix? = Contestants.unix?(@address)
    end
  end
end
