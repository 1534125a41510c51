# frozen_string_literal: true

require "test_helper"
require "bontebok/adapters/rack_handler"

# Tests the options that `rails server` passes to the handler.
class RailsOptionsTest < Support::TestCase
  # The options that Rails passes to the handler if the user types none.
  UNTYPED = { environment: "development", pid: "/srv/tmp/pids/server.pid", Port: 3000, Host: "localhost", AccessLog: [],
              config: "config.ru", user_supplied_options: [], server: "bontebok", log_stdout: true,
              DoNotReverseLookup: true, daemonize: false, caching: nil, restart_cmd: "bin/rails server --restart",
              early_hints: nil }.freeze

  def test_development_has_one_process
    config = config()
    assert_equal [0, 3, localhost(3000)], [config.workers, config[:threads], config[:listen].map(&:to_s)]
    assert_equal "default", config.source(:max_workers)
  end

  def test_other_environments_have_the_defaults_of_the_command
    config = config(environment: "production", Host: "0.0.0.0")
    assert_equal [:auto, 1, "0.0.0.0:3000"], [config[:max_workers], config[:threads], config[:listen].join]
    assert_equal [true, 0, 30_000], [config[:chunked_transfer], config[:max_request_per_child], config[:header_timeout]]
    assert_equal "production", config[:environment]
  end

  def test_typed_options_have_the_source_command_line
    config = config(Port: 4000, user_supplied_options: %i[Port])
    assert_equal [localhost(4000), "command line"], [config[:listen].map(&:to_s), config.source(:listen)]
    assert_equal "[::1]:3000", config(Host: "::1", user_supplied_options: %i[Host pid])[:listen].join
    error = assert_raises(Bontebok::UsageError) { config(Host: "a b", user_supplied_options: %i[Host]) }
    assert_match(/\Acommand line: listen wants HOST:PORT/, error.message)
  end

  def test_the_file_of_rails_restart
    assert_equal "tmp/restart.txt", config[:restart_file]
    assert_equal "tmp/restart.txt", config(Port: 4000, user_supplied_options: %i[Port])[:restart_file]
  end

  def test_an_option_that_rails_adds_some_day_is_ignored
    assert_equal 3, config(something_new: 1)[:threads]
  end

  private

  def localhost(port)
    Bontebok::Loopback.addresses.map { |host| Bontebok::Address.text(host, port) }
  end

  def config(**options)
    Bontebok::RackHandler.config(UNTYPED.merge(options), env: {})
  end
end
