# frozen_string_literal: true

require_relative "../../../lib/bontebok/sockets/control/control_connection"
require_relative "../deploy/application"
require_relative "../deploy/kinds/own"
require_relative "client"
require_relative "family"

module Bench
  module Releases
    # A server whose responses have the number of the release. Commands go to the control socket directly, so they do
    # not start a Ruby process.
    class Server < Deploys::Own
      NAME = "bontebok releases"
      WORKERS = 2
      OPTIONS = %w[--keep-former 1h --err-respawn-interval 10ms --graceful-timeout 5s --worker-boot-timeout 10s].freeze
      # A release that does not load.
      BAD = "bad"

      # The release that the next master loads.
      attr_reader :release

      def initialize(address, dir)
        @file = File.join(dir, "release")
        super(address, dir, Deploys::Application.new(Deploys::Application.file("marked.ru"),
                                                     { "BENCH_RELEASE" => @file }, []))
      end

      def contestant = server("--control", control, *OPTIONS)

      def release=(text)
        File.write("#{@file}.new", text)
        File.rename("#{@file}.new", @file)
        @release = text
      end

      # The pid of the supervisor.
      def pid = group.pid

      def family = Family.of(pid, group.pids)

      # Sends a command, and waits for its end. Returns the last message of the server; nil: the server has ended.
      def ask(command, wait: false)
        answer = nil
        connection = ::Bontebok::ControlConnection.new(control)
        connection.ask({ "command" => command, "wait" => wait }) { |said| answer = said }
        answer
      rescue ::Bontebok::StartError, SystemCallError
        nil
      end

      # Returns what the last message of a command says about the server; nil: it does not answer.
      def status = ask("status")&.fetch("server", nil)

      # Returns the Family when nothing is in progress and all workers are there; nil: not within the seconds.
      def rest(seconds)
        limit = now + seconds
        until (family = whole)
          return if now > limit

          sleep 0.05
        end
        family
      end

      # The release in a response on a new connection; nil: none comes.
      def served = Client.new(@address, kept: false).ask.body

      # Call this when the supervisor was killed. Its processes must end within the seconds.
      def bury(seconds)
        Process.wait(pid)
        limit = now + seconds
        sleep 0.02 until group.pids.empty? || now > limit
        raise Deploys::Failed, "#{name}: processes are left" unless group.pids.empty?

        @servers.pop # its pid can belong to another process soon
      end

      private

      def whole
        status = self.status
        family = self.family
        return unless status && status["state"] == "serving" && status["masters"].one?

        family if family.whole?(WORKERS, status["former"] ? 2 : 1)
      end
    end
  end
end
