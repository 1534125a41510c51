# frozen_string_literal: true

require "test_helper"
require "bontebok/embedded/server_config"

# Tests the arguments and options of a Server, also with the names of other servers.
class ServerConfigTest < Support::TestCase
  def test_the_address
    { {} => "127.0.0.1:0", { Host: "127.0.0.1", Port: 8080 } => "127.0.0.1:8080", { host: "::1" } => "[::1]:0",
      { port: "80" } => "127.0.0.1:80", { BindAddress: "a.test", Port: 1 } => "a.test:1",
      { Path: "/run/a.sock", Host: "x" } => "/run/a.sock", { Host: "/run/a.sock", Port: 1 } => "/run/a.sock",
      { Host: "@app" } => "@app", { listen: "unix:/a", Host: "x", Port: 1 } => "unix:/a",
      { "Port" => 9292, port: 3000 } => "127.0.0.1:3000" }.each do |options, address|
      assert_equal address, arguments(options)[0][:listen], options
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
      assert_equal given, arguments(options)[0].except(:listen), options
      assert_empty arguments(options)[2]
    end
  end

  def test_the_log
    { { Silent: true } => nil, { Silent: true, log: :mine } => nil, { Silent: false } => $stderr, {} => $stderr,
      { Logger: :mine } => :mine, { log: :own, Logger: :mine } => :own, { log: nil } => nil }.each do |options, log|
      assert_equal [log], [arguments(options)[1]], options
    end
  end

  def test_workers_have_no_effect
    assert_equal ["Bontebok::Server: workers has no effect: the server runs in the process of its caller"],
                 arguments({ workers: 2 })[2]
    given, _, advice = arguments({ max_workers: 2 })
    assert_equal [2, []], [given[:max_workers], advice]
  end

  def test_tls_is_an_error
    error = assert_raises(ArgumentError) { arguments({ SSLEnable: true }) }
    assert_equal "Bontebok::Server: SSLEnable: TLS is left to a proxy", error.message
  end

  def test_values_are_written_as_in_a_configuration_file
    config = config(listen: [8080, "unix:/run/a.sock"], threads: 4, header_timeout: 1.5, max_body: "1M",
                    reuseport: true)
    assert_equal(["0.0.0.0:8080 unix:/run/a.sock", 4, 1500, 1 << 20, true],
                 [config[:listen].join(" "), *%i[threads header_timeout max_body reuse_port].map { |key| config[key] }])
  end

  def test_neither_a_file_nor_variables_set_options
    temp_file("config/bontebok.rb", "threads 7")
    former = %w[PORT WEB_CONCURRENCY RAILS_MAX_THREADS RACK_ENV].to_h { |name| [name, ENV.fetch(name, nil)] }
    ENV.update("PORT" => "1", "WEB_CONCURRENCY" => "5", "RAILS_MAX_THREADS" => "6", "RACK_ENV" => "staging")
    config = Dir.chdir(temp_dir) { config() }
    assert_equal [["127.0.0.1:0"], 0, 1, "staging"],
                 [config[:listen].map(&:to_s), config.workers, config[:threads], config[:environment]]
  ensure
    ENV.update(former)
  end

  def test_names_may_be_strings
    assert_equal 3, Bontebok::ServerConfig.for({ "threads" => 3 })[:threads]
  end

  def test_an_unknown_option_names_the_nearest
    { tread: "threads", Silence: "Silent", lissen: "listen" }.each do |name, near|
      error = assert_raises(ArgumentError) { config(name => 1) }
      assert_equal "Bontebok::Server: unknown option #{name}. Did you mean #{near}?", error.message
    end
  end

  # An option that a section gets later is either for a Server or named here.
  def test_options_of_processes_are_refused
    refused = Bontebok::OptionTable::ALL.map(&:key) - Bontebok::ServerConfig::OPTIONS
    assert_equal(%i[max_workers config_file config_style rackup preload max_request_per_child
                    max_worker_age max_worker_memory err_respawn_interval worker_boot_timeout
                    deploy_surge keep_former drain_delay signal_hup oob_gc
                    max_gc_per_request
                    directory user umask tag pidfile control restart_file
                    health_headers warm_up ready_path live_path worker_timeout hijack_timeout log stdout], refused)
    refused.each { |key| assert_raises(ArgumentError) { config(key => "1") } }
  end

  private

  def arguments(options) = Bontebok::ServerConfig.arguments(options)

  def config(**options)
    Bontebok::ServerConfig.for(options)
  end
end
