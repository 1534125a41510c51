# frozen_string_literal: true

require "test_helper"
require "bontebok/embedded/server_arguments"

# Tests the arguments of Server.new, also with the names of other servers' options.
class ServerArgumentsTest < Support::TestCase
  def test_the_address
    { {} => "127.0.0.1:0", { Host: "127.0.0.1", Port: 8080 } => "127.0.0.1:8080", { host: "::1" } => "[::1]:0",
      { port: "80" } => "127.0.0.1:80", { BindAddress: "a.test", Port: 1 } => "a.test:1",
      { Path: "/run/a.sock", Host: "x" } => "/run/a.sock", { Host: "/run/a.sock", Port: 1 } => "/run/a.sock",
      { Host: "@app" } => "@app", { listen: "unix:/a", Host: "x", Port: 1 } => "unix:/a",
      { "Port" => 9292, port: 3000 } => "127.0.0.1:3000" }.each do |options, address|
      assert_equal address, read(options)[0][:listen], options
    end
  end

  def test_options_have_several_names
    { { Threads: "0:4" } => { threads: "0:4" }, { threads: 3, MaxBody: "1M" } => { threads: 3, max_body: "1M" },
      { environment: "test" } => { environment: "test" }, { persistent_timeout: 5 } => { keepalive_timeout: 5 },
      { Verbose: true } => { access_log: "-", access_log_format: "common" },
      { Verbose: true, access_log: "a.log" } => { access_log: "a.log", access_log_format: "common" },
      { timeout: 9, body_timeout: 8 } => { header_timeout: 9, body_timeout: 8, write_timeout: 9 },
      { AccessLog: [], workers: 0, DoNotReverseLookup: true, queue_requests: false } => {},
      { Nonsense: 1 } => { Nonsense: 1 } }.each do |options, given|
      assert_equal given, read(options)[0].except(:listen), options
      assert_empty read(options)[2]
    end
  end

  def test_the_log
    { { Silent: true } => nil, { Silent: true, log: :mine } => nil, { Silent: false } => $stderr, {} => $stderr,
      { Logger: :mine } => :mine, { log: :own, Logger: :mine } => :own, { log: nil } => nil }.each do |options, log|
      assert_equal [log], [read(options)[1]], options
    end
  end

  def test_workers_have_no_effect
    assert_equal ["Bontebok::Server: workers has no effect: the server runs in the process of its caller"],
                 read({ workers: 2 })[2]
    given, _, advice = read({ max_workers: 2 })
    assert_equal [2, []], [given[:max_workers], advice]
  end

  def test_tls_is_an_error
    error = assert_raises(ArgumentError) { read({ SSLEnable: true }) }
    assert_equal "Bontebok::Server: SSLEnable: TLS is left to a proxy", error.message
  end

  private

  def read(options)
    Bontebok::ServerArguments.read(options)
  end
end
