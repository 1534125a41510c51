# frozen_string_literal: true

require_relative "../../../test/interop/support/haproxy"
require_relative "../../../test/interop/support/h2o"
require_relative "../../../test/interop/support/nginx"
require_relative "../load"
require_relative "../process_group"
require_relative "kind"

module Bench
  module Deploys
    # A proxy in front of the measured server, with a configuration of test/interop. The proxy runs on the load tool's
    # core.
    class Proxy
      ALL = { "nginx" => Interop::Nginx, "h2o" => Interop::H2o, "haproxy" => Interop::Haproxy }.freeze
      # Sites that differ from another one only in request bodies.
      SAME = /unbuffered/
      # Debian installs proxies in directories that are only in root's PATH.
      PATH = "#{ENV.fetch('PATH')}:/usr/sbin:/sbin".freeze
      # One of the proxy's ways to connect to the server.
      Site = Struct.new(:proxy, :name)

      def self.sites(proxy)
        ALL.fetch(proxy)::SITES.keys.grep_v(SAME).map { |name| Site.new(proxy, name) }
      end

      attr_reader :address

      # backend: the path of the server's unix socket.
      def initialize(site, dir, backend)
        @site = site
        @log = File.join(dir, "proxy.log")
        @proxy = ALL.fetch(site.proxy).new(dir, backend)
        @address = @proxy.entrances.fetch(site.name).delete_prefix("unix:")
      end

      def start
        @group = ProcessGroup.new(@proxy.command, env: { "PATH" => PATH }, address: @address, core: Load::CORE,
                                                  log: @log)
        raise Failed, "#{@site.proxy} does not start: #{File.read(@log)}" unless @group.ready?
      end

      def finish = @group&.finish
    end
  end
end
