# frozen_string_literal: true

require_relative "browser"
require_relative "haproxy"
require_relative "h2o"
require_relative "nginx"
require_relative "proxy_process"

module Interop
  # The base of tests with a server on TCP and on a unix socket, and with proxies in front of the server. Each address
  # of the server and of the proxies is an entrance. The application must behave the same at each entrance, so a test
  # runs once for each entrance.
  class TestCase < Support::TestCase
    # Debian installs proxies in directories that are only in root's PATH.
    PATH = "#{ENV.fetch('PATH')}:/usr/sbin:/sbin".freeze
    # Frameworks ask RubyGems for versions. In other tests, RUBYOPT turns RubyGems off.
    RUBYGEMS = { "RUBYOPT" => Support::GemDirectories::COMPILED }.freeze

    # Starts the server on both kinds of address, then the proxies.
    def start_site(proxies: [Nginx], env: {}, **options)
      socket = File.join(temp_dir, "application.sock")
      arguments = ["-l", "127.0.0.1:0", "-l", "unix:#{socket}", *options.delete(:args)]
      @server = start_bontebok(listen: nil, args: arguments, env: RUBYGEMS.merge(env), **options)
      @entrances = { "TCP" => @server.address, "unix" => "unix:#{socket}" }
      proxies.each { |proxy| start_proxy(proxy.new(temp_dir, socket)) }
    end

    # Calls the block with a new Browser for each entrance. fields: the header fields of every request.
    def at_each_entrance(fields = {})
      @entrances.each do |name, address|
        browser = Browser.new(address, fields)
        name_in_failures(name) { yield browser, name }
      ensure
        browser&.close
      end
    end

    private

    # Adds the entrance and the end of the server's log to the message of a failure in the block.
    def name_in_failures(entrance)
      yield
    rescue Minitest::Assertion, Support::Error => e
      raise e.exception("at #{entrance}: #{e.message}\n#{@server.output.lines.last(40).join("\n")}")
    end

    def start_proxy(proxy)
      process = ProxyProcess.new(*proxy.command, env: { "PATH" => PATH })
      children << process
      proxy.entrances.each_value { |address| wait_for_entrance(process, address) }
      @entrances.merge!(proxy.entrances)
      process
    end

    def wait_for_entrance(process, address)
      eventually(address) do
        flunk("a proxy does not start:\n#{process.output.text}") unless process.running?
        Support::Client.accepted?(address)
      end
    end
  end
end
