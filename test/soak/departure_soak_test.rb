# frozen_string_literal: true

require "test_helper"
require_relative "support/nothing_lost"
require_relative "support/slow_network"

# Two servers with reuse_port share their addresses. Under load, a server starts and the
# other one stops, again and again. Every second time, the newer server stops. No client may notice this.
class DepartureSoakTest < Support::TestCase
  include Support::OnceMore
  include NothingLost

  LOAD_TOOL = File.join(ROOT, "lib/bontebok/bontebok-bench")
  # Requests, and requests per second, of each load generator.
  REQUESTS = 25_000
  RATE = 1_500

  def teardown
    @network&.close
  end

  # With a control socket, the servers share the listeners of TCP.
  [%w[-w 2 --control none], %w[-w 0 --control none], %w[-w 2 --control both]].each do |args|
    define_method(:"test_no_request_is_lost_with#{args.join.tr("-", "_")}") do
      assert_operator soak("127.0.0.1:0", "unix:#{temp_dir}/app.sock", args: args), :>=, 4
    end
  end

  # Handshakes take longer than a stop would without waiting for them.
  { "20" => 0.01, "80" => 0.04 }.each do |name, delay|
    define_method(:"test_no_request_is_lost_with_#{name}_ms_of_round_trip") do
      skip "needs root and /dev/net/tun" unless SlowNetwork.possible?
      @network = SlowNetwork.new(delay)
      assert_operator soak("#{SlowNetwork::ADDRESSES.first}:0", requests: 5_000, rate: 300), :>=, 4
    end
  end

  private

  # Returns the number of servers that have stopped.
  def soak(*addresses, args: %w[-w 2 --control none], requests: REQUESTS, rate: RATE)
    servers = [start(addresses, args)]
    addresses = servers.first.addresses
    urls = addresses.map { |address| address.unix? ? "#{address}:/" : "http://#{address}/" }
    loads = urls.product([[], ["--close"]]).map { |url, options| load_of(url, requests, rate, *options) }
    deploys = 0
    while loads.any?(&:running?)
      servers << start(addresses, args)
      leaver = servers.delete_at(deploys % 2)
      assert_equal 0, leaver.stop.exitstatus
      refute_match(/ (warn|error) |cannot give/, leaver.output.text)
      deploys += 1
    end
    loads.each { |load| assert_equal requests, assert_nothing_lost(load)["ok"] }
    deploys
  end

  def start(addresses, args)
    args += addresses.flat_map { |address| ["-l", address.to_s] }
    server = start_bontebok(listen: nil, args: ["--reuse-port", "--keepalive-drain", "200ms", *args],
                            rackup: %(run ->(_env) { [200, {}, ["Hello"]] }), under: @network&.inside(0))
    server.wait_for_output(/ ready in \d+ ms$/)
    server
  end

  def load_of(url, requests, rate, *options)
    start_process(*@network&.inside(1), LOAD_TOOL, "--json", "-c", "48", "--rate", rate.to_s, "-n", requests.to_s,
                  *options, url)
  end
end
