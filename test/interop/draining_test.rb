# frozen_string_literal: true

require "test_helper"
require_relative "support/balancing_haproxy"
require_relative "support/balancing_nginx"
require_relative "support/test_case"

# Two servers behind a proxy. One of them stops with a drain_delay, while clients send requests. Each request gets its
# response.
class DrainingTest < Interop::TestCase
  def setup
    @entrances = {}
    @sockets = %w[a b].map { |name| File.join(temp_dir, "#{name}.sock") }
  end

  # HAProxy sends no request to a server that is not ready, so it must not need a second try.
  def test_haproxy_sees_a_server_up_draining_and_down
    proxy = start_proxy(Interop::BalancingHaproxy.new(temp_dir, @sockets))
    a, b = start_servers
    %w[a b].each { |name| proxy.wait_for_output(%r{Server app/#{name} is UP, reason: Layer7 check passed, code: 200}) }
    asking do
      assert_asked %w[a b]
      drain a
      proxy.wait_for_output(%r{Server app/a is DOWN, reason: Layer7 wrong status, code: 503})
      assert_asked %w[b]
      stop a
      assert_asked %w[b]
    end
    drain b
    proxy.wait_for_output(%r{Server app/b is DOWN, reason: Layer7 wrong status, code: 503})
    stop b
  end

  # nginx does not know that the server drains, and goes on sending requests to it, each on a new connection.
  def test_nginx_loses_no_request
    a, b = start_servers
    start_proxy(Interop::BalancingNginx.new(temp_dir, @sockets))
    asking do
      assert_asked %w[a b]
      drain a
      assert_asked %w[a b]
      stop a
      assert_asked %w[b]
    end
    drain b
    stop b
  end

  private

  # Returns both servers. Each responds with its name.
  def start_servers
    @sockets.map do |path|
      start_bontebok(listen: nil, rackup: "run ->(_env) { [200, {}, ['#{File.basename(path, '.sock')}']] }\n",
                     args: ["-l", "unix:#{path}", "-w", "1", "--ready-path", "/-/ready", "--drain-delay", "10m",
                            "--keepalive-drain", "10ms"])
    end
  end

  def drain(server)
    server.signal("TERM")
    server.wait_for_output(/ draining: stops in /)
    assert_equal 503, server.get("/-/ready").status
  end

  def stop(server)
    assert_equal 0, server.stop("TERM").exitstatus
  end

  # Clients send requests to the proxy while the block runs, one on a kept connection, one on new connections. Each
  # request must get 200.
  def asking
    @stopped = false
    clients = [true, false].map { |keeps| Thread.new { ask_until_stopped(keeps) } }
    yield
  ensure
    @stopped = true
    assert_equal [200], clients.flat_map(&:value).uniq
  end

  # Returns the statuses.
  def ask_until_stopped(keeps)
    client = nil
    statuses = []
    until @stopped
      client ||= Support::Client.new(entrance)
      response = client.get
      statuses << response.status
      client = client.close unless keeps && response.keep_alive?
    end
    statuses
  ensure
    client&.close
  end

  # Asserts that these servers serve new requests, and no other server.
  def assert_asked(names)
    eventually("responses of #{names}") { Array.new(4) { ask }.uniq.sort == names }
    assert_empty Array.new(8) { ask } - names
  end

  def ask = Support::Client.open(entrance) { |client| client.get.body }
  def entrance = @entrances.values.first
end
