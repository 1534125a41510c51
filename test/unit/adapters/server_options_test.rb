# frozen_string_literal: true

require "test_helper"
require "bontebok/adapters/server_options"

# Tests the options of Rack handlers and of Capybara as arguments of Server.new.
class ServerOptionsTest < Minitest::Test
  def test_names_of_other_servers_are_understood
    { { Host: "127.0.0.1", Port: 8080 } => { listen: "127.0.0.1:8080" },
      { Host: "::1", Port: "0" } => { listen: "[::1]:0" },
      { Port: 8080 } => { listen: "127.0.0.1:8080" },
      { Host: "localhost" } => { listen: "localhost:9292" },
      { Path: "/run/a.sock", Host: "x" } => { listen: Bontebok::Address::Path.new("/run/a.sock") },
      { Silent: true } => { log: nil },
      { Silent: false } => {},
      { Logger: :mine } => { log: :mine },
      { Threads: "0:4" } => { threads: "0:4" },
      { threads: 3, MaxBody: "1M" } => { threads: 3, max_body: "1M" },
      { environment: "test" } => { environment: "test" },
      { AccessLog: [], config: "config.ru", server: "bontebok", Port: nil } => {},
      { Nonsense: 1 } => { Nonsense: 1 } }.each do |options, arguments|
      assert_equal arguments, Bontebok::ServerOptions.read(options), options
    end
  end
end
