# frozen_string_literal: true

require_relative "bontebok"

module Bench
  module Deploys
    # Two servers with reuse_port on one port, which know nothing of each other. A new server starts. When it is ready,
    # the old one gets TERM, and gives the new connections of the port to the new one.
    class ReusePort < Bontebok
      NAME = "bontebok reuse-port"

      def self.transport = "tcp"

      # Without a control socket, no server can ask the other one for its listener.
      def contestant = server("--reuse-port", "--control", "none")

      def deploy
        launch
        wait_until_ready
        stop(@servers.shift)
      end

      private

      # Leaves the old server alone if the new one fails.
      def wait_until_ready
        wait("ready") do
          raise Failed, "#{name}: the new server has ended: #{last_lines}" if end_of(group)

          read.match?(READY)
        end
      rescue Failed
        @servers.pop.group.finish
        raise
      end

      def stop(old)
        signal("TERM", old.group.pid)
        status = nil
        wait("the end of the old server") { status = end_of(old.group) }
        raise Failed, "#{name}: the old server: #{status}: #{File.read(old.log)}" unless status.success?
      rescue Failed
        old.group.finish
        raise
      end

      # The Process::Status of a server that has ended; otherwise nil.
      def end_of(group) = Process.wait2(group.pid, Process::WNOHANG)&.last
    end

    # The same with a control socket that both servers find: the new server gets copies of the old one's listeners.
    class SharedListener < ReusePort
      NAME = "bontebok shared-listener"

      def contestant = server("--reuse-port", "--control", File.join(@dir, "control"))
    end

    # The same with a unix socket: the new server renames its socket over the path of the old one.
    class UnixRename < ReusePort
      NAME = "bontebok unix-rename"

      def self.transport = "unix"
    end
  end
end
