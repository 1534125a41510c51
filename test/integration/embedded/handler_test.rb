# frozen_string_literal: true

require "rackup"
require_relative "../support/embedded_case"

# Tests the Rack handler with a block.
class HandlerTest < EmbeddedCase
  APP = ->(_env) { [200, {}, ["ok"]] }

  def test_the_block_gets_a_server_that_serves
    body = nil
    handler.run(APP, Host: "127.0.0.1", Port: 0, AccessLog: [], environment: "test") do |server|
      body = get(server).body
      Thread.new { server.stop }
    end
    assert_equal "ok", body
  end

  # A program that was written for the handlers of puma and WEBrick.
  def test_options_of_other_servers
    lines = []
    options = { host: "127.0.0.1", Port: 0, Threads: "0:2", workers: 2, daemon: false, DoNotReverseLookup: true,
                Logger: ->(level, message, _) { lines << "#{level} #{message}" } }
    body = nil
    handler.run(APP, **options) do |server|
      body = get(server).body
      Thread.new { server.stop }
    end
    assert_equal ["ok", ["warn Bontebok::Server: workers has no effect: the server runs in the process of its caller"]],
                 [body, lines]
  end

  def test_the_server_stops_if_the_block_raises
    running = nil
    assert_raises(KeyError) { handler.run(APP, Port: 0) { |server| (running = server) && raise(KeyError) } }
    refute_predicate running, :running?
  end

  def test_errors_are_exceptions
    error = assert_raises(ArgumentError) { handler.run(APP, Port: 0, MaxWorkers: 2) { flunk } }
    assert_match(/max_workers has no effect/, error.message)
    assert_raises(Bontebok::StartError) { handler.run(APP, Path: "/dev/null/x") { flunk } }
  end

  private

  def handler
    Rackup::Handler.get("bontebok")
  end
end
