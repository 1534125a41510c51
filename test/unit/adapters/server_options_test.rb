# frozen_string_literal: true

require "test_helper"
require "bontebok/adapters/server_options"

# Tests the options of Rack handlers and of Capybara as arguments of Server.new.
class ServerOptionsTest < Minitest::Test
  def test_options_for_rackup_itself_are_left_out
    { { Host: "127.0.0.1", Port: 8080, workers: 0 } => { Host: "127.0.0.1", Port: 8080, workers: 0 },
      { environment: "test" } => { Port: 9292, environment: "test" },
      { config: "config.ru", server: "bontebok", pid: "a.pid", Port: nil } => { Port: 9292 } }
      .each { |options, arguments| assert_equal arguments, Bontebok::ServerOptions.read(options), options }
  end
end
