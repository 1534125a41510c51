# frozen_string_literal: true

require "test_helper"
require "bontebok/adapters/rack_handler"

# Tests the options that rackup passes to the handler.
class RackupOptionsTest < Support::TestCase
  # The options that rackup passes to the handler if the user types none.
  UNTYPED = { environment: "development", pid: nil, Port: 9292, Host: "localhost", AccessLog: [],
              config: "/srv/config.ru", server: "bontebok" }.freeze

  # { option of the server Rhebok => [a value as users type it, the default of Bontebok under rackup] }. Options for
  # addresses and for code are left out.
  RHEBOK = { MaxWorkers: ["8", 5], MaxRequestPerChild: ["500", 1000], ErrRespawnInterval: ["3", 1000],
             OobGC: ["true", false], MaxGCPerRequest: ["9", 50], BackLog: ["64", 4096], ReusePort: ["yes", false],
             ChunkedTransfer: ["1", false] }.freeze

  # The application is loaded already, so the default `preload false` of these files has no effect.
  def test_files_for_unicorn_and_puma_keep_the_defaults_of_these_servers
    unicorn = config(ConfigFile: temp_file("unicorn.rb", "worker_processes 2\n"))
    assert_equal [2, 1, "unicorn's default"], [unicorn.workers, unicorn[:threads], unicorn.source(:threads)]
    puma = config(ConfigFile: temp_file("puma.rb", "workers 1\n"))
    assert_equal [1, 5, "puma's default"], [puma.workers, puma[:threads], puma.source(:threads)]
  end

  def test_options_of_rhebok_are_understood
    options = RHEBOK.keys.map { |name| Bontebok::OptionTable::ALL.find { |one| one.rackup_name == name.to_s } }
    untyped = config
    typed = config(**RHEBOK.transform_values(&:first))
    assert_equal(RHEBOK.values.map(&:last), options.map { |option| untyped[option.key] })
    assert_equal([8, 500, 3000, true, 9, 64, true, true],
                 options.map { |option| typed[option.key] })
    assert_equal ["rackup -O"], options.map { |option| typed.source(option.key) }.uniq
    assert_equal 1, untyped[:threads]
  end

  def test_timeout_sets_three_timeouts
    keys = %i[header_timeout body_timeout write_timeout]
    assert_equal([300_000] * 3, keys.map { |key| config[key] })
    assert_equal(["Rhebok's default"] * 3, keys.map { |key| config.source(key) })
    given = config(Timeout: "30", BodyTimeout: "20")
    assert_equal([30_000, 20_000, 30_000], keys.map { |key| given[key] })
    assert_equal(["rackup -O"] * 3, keys.map { |key| given.source(key) })
    assert_equal "Value of HeaderTimeout, BodyTimeout and WriteTimeout. Default: 300.",
                 Bontebok::RackupOptions.help["Timeout=SECONDS"]
  end

  def test_options_have_the_names_of_the_table
    config = config(MaxWorkers: "8", Timeout: "30", ChunkedTransfer: "true", ReusePort: true, MaxRequestPerChild: "0",
                    MinBodyRate: nil)
    assert_equal [8, 30_000, true, true, 0], [config.workers, config[:header_timeout], config[:chunked_transfer],
                                              config[:reuse_port], config[:max_request_per_child]]
    assert_equal ["rackup -O", "default"], [config.source(:max_workers), config.source(:min_body_rate)]
  end

  def test_options_for_garbage_and_recycling_are_read
    given = config(OobGC: "yes", MaxGCPerRequest: "9", MaxWorkerAge: "1m", MaxWorkerMemory: "1G")
    keys = %i[oob_gc max_gc_per_request max_worker_age max_worker_memory]
    assert_equal([true, 9, 60_000, 1 << 30], keys.map { |key| given[key] })
    assert_equal([false, 50, 0, 0], keys.map { |key| config[key] })
  end

  def test_options_of_rhebok_without_an_effect_get_advice
    assert_equal ["rackup -O: MinGCPerRequest has no effect: " \
                  "the number of requests is random, at least three quarters of max_gc_per_request"],
                 config(MinGCPerRequest: "2").warnings
    assert_empty config.warnings
  end

  def test_an_access_log_is_distinguished_from_rackups_own
    path = File.join(temp_dir, "access.log")
    assert_equal ["", path], [config[:access_log], config(AccessLog: path)[:access_log]]
  end

  def test_host_port_path_and_listen_name_the_addresses
    { {} => "localhost:9292", { Host: "0.0.0.0", environment: "production" } => "0.0.0.0:9292",
      { Port: "8080" } => "localhost:8080", { Host: "::1", Port: "80" } => "[::1]:80",
      { Host: "[::1]", Port: "80" } => "[::1]:80",
      { Path: "/tmp/app.sock" } => "unix:/tmp/app.sock", { Path: "@app" } => "unix:@app",
      { Path: "/tmp/a.sock", Port: "80" } => "unix:/tmp/a.sock",
      { Listen: "81,unix:/tmp/a.sock" } => "0.0.0.0:81 unix:/tmp/a.sock",
      { Listen: ["81", "unix:/tmp/a.sock"] } => "0.0.0.0:81 unix:/tmp/a.sock" }.each do |options, addresses|
      assert_equal addresses, config(**options)[:listen].join(" "), options.inspect
    end
  end

  # A program can call the handler without rackup.
  def test_a_missing_host_or_port_has_a_default
    { {} => "127.0.0.1:9292", { Port: 3000 } => "0.0.0.0:3000", { Host: "127.0.0.2" } => "127.0.0.2:9292" }
      .each do |options, address|
        assert_equal address, Bontebok::RackHandler.config(options, env: {})[:listen].first.to_s, options.inspect
      end
  end

  def test_typed_addresses_are_distinguished_from_rackups_own
    assert_equal "Rhebok's default", config.source(:listen)
    assert_equal "Rhebok's default", config(environment: "production", Host: "0.0.0.0").source(:listen)
    assert_equal "rackup -O", config(Port: "9292").source(:listen)
    assert_equal "rackup -O", config(Host: "0.0.0.0").source(:listen)
  end

  def test_the_configuration_file_overrides_typed_options
    path = temp_file("bontebok.rb", "max_workers 2\nlisten 'unix:/tmp/file.sock'\nenvironment 'file'\n")
    config = config(ConfigFile: path, MaxWorkers: "8", Threads: "3", Path: "/tmp/typed.sock")
    assert_equal [2, 3, "unix:/tmp/file.sock"], [config.workers, config[:threads], config[:listen].join]
    assert_equal "development", config[:environment], "what the application was loaded with"
    path = "#{temp_dir}/missing.rb"
    assert_fails "cannot read the configuration file #{path}", 1, ConfigFile: path
  end

  def test_an_unknown_option_is_an_error
    assert_fails "rackup -O: unknown option MaxWorker. Did you mean MaxWorkers?", MaxWorker: "8"
    assert_fails "rackup -O: unknown option Nonsense. See rackup -s bontebok -h.", Nonsense: true
    assert_fails "rackup -O: unknown option worker. Did you mean workers?", worker: "8"
    assert_fails "rackup -O: unknown option Silet. Did you mean Silent?", Silet: true
  end

  def test_a_wrong_value_is_an_error
    assert_fails 'rackup -O: MaxWorkers wants auto or a whole number from 0 to 1024, not "many"', MaxWorkers: "many"
    assert_fails "rackup -O: MaxWorkers wants a value: -O MaxWorkers=N|auto", MaxWorkers: true
    assert_fails "rackup -O: Path wants a value: -O Path=PATH", Path: true
    assert_fails "rackup -O: MaxWorkers wants a value: -O MaxWorkers=N|auto", workers: true
    assert_fails "rackup -O: Port wants a value: -O Port=PORT", port: true
    assert_fails "rackup -O: Listen wants HOST:PORT", Port: "http"
    assert_fails "rackup -O: Listen and Path are both addresses", Listen: "80", Path: "/tmp/a.sock"
  end

  def test_options_that_must_come_before_the_application_loads_are_errors
    assert_fails "rackup -O: Preload: the application is loaded already", Preload: "false"
    assert_fails "rackup -O: Rackup: the application is loaded already", Rackup: "a.ru"
    assert_fails "rackup -O: Directory: the application is loaded already", Directory: "/tmp"
    assert_fails "rackup -O: Directory: the application is loaded already", directory: "/tmp"
    assert_fails "rackup -O: Environment: the application is loaded already", Environment: "production"
    assert_equal true, config(Preload: "true")[:preload]
    assert_equal 0, config(Preload: "false", MaxWorkers: "0").workers
    path = temp_file("bontebok.rb", "preload false\n")
    assert_fails "#{path}:1: preload: the application is loaded already", ConfigFile: path
    path = temp_file("bontebok.rb", "\nrackup 'a.ru'\n")
    assert_fails "#{path}:2: rackup: the application is loaded already", ConfigFile: path
    path = temp_file("bontebok.rb", "rackup '#{UNTYPED[:config]}'\n")
    assert_equal UNTYPED[:config], config(ConfigFile: path)[:rackup]
  end

  # Programs pass these options to the handlers of other servers.
  def test_options_of_other_servers_are_understood
    given = config(host: "127.0.0.2", port: "3000", workers: 2, Threads: "1:4", persistent_timeout: 20)
    assert_equal ["127.0.0.2:3000", 2, 4, 20_000],
                 [given[:listen].join(" "), given.workers, given[:threads], given[:keepalive_timeout]]
    assert_equal 0, config(workers: 0)[:max_workers]
    assert_equal "unix:/run/a.sock", config(Host: "/run/a.sock")[:listen].join(" ")
    assert_equal ["127.0.0.1:1", "[::1]:1"], config(listen: %w[127.0.0.1:1 [::1]:1])[:listen].map(&:to_s)
  end

  def test_silent_and_verbose_of_puma
    logs = ->(config) { %i[log_level access_log access_log_format].map { |key| config[key] } }
    assert_equal ["error", "-", "common"], logs.call(config(Silent: true, Verbose: "true"))
    assert_equal ["info", "", "combined"], logs.call(config(Silent: "false", Verbose: false))
    assert_equal ["warn", "/a.log", "json"],
                 logs.call(config(Silent: true, LogLevel: "warn", Verbose: true, AccessLog: "/a.log",
                                  AccessLogFormat: "json"))
  end

  def test_options_of_other_servers_without_an_effect
    assert_empty config(DoNotReverseLookup: true, daemon: false, SSLEnable: false, config_files: [], events: Object.new,
                        queue_requests: false, signals: false, workers: "auto").warnings
    told = config(Logger: Object.new, daemon: true, AccessLog: [[$stderr, "%h"]], StartCallback: -> {}).warnings
    assert_equal(%w[AccessLog daemon StartCallback Logger], told.map { |text| text[/\Arackup -O: (\w+) has no/, 1] })
    assert_fails "rackup -O: SSLEnable: TLS is left to a proxy", SSLEnable: true
  end

  def test_hooks_can_be_given_as_code
    path = temp_file("bontebok.rb", "before_fork { :of_the_file }\n")
    hooks = config(BeforeFork: -> { :given }, AfterFork: -> { :after }, ConfigFile: path).hooks
    assert_equal %i[of_the_file after], [hooks.run(:before_fork), hooks.run(:after_fork)]
    assert_equal :given, config(BeforeFork: -> { :given }).hooks.run(:before_fork)
    assert_fails "rackup -O: BeforeFork is code: put it into the configuration file", BeforeFork: "p 1"
  end

  def test_help_shows_the_options_that_can_be_given
    help = Bontebok::RackupOptions.help
    assert_equal "Worker processes. Default: 5.", help["MaxWorkers=N|auto"]
    assert_equal %w[Host=HOST Port=PORT Path=PATH], help.keys.first(3)
    assert_empty help.keys.grep(/Preload|Rackup|Environment|Directory/)
    assert_includes help, "Timeout=SECONDS"
  end

  private

  def config(**options)
    Bontebok::RackHandler.config(UNTYPED.merge(options), env: {})
  end

  def assert_fails(message, status = 2, **options)
    error = assert_raises(Bontebok::StartError) { config(**options) }
    assert_equal [message, status], [error.message[0, message.size], error.exit_status]
  end
end
