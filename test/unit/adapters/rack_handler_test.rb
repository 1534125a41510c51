# frozen_string_literal: true

require "test_helper"
require "rackup"
require "bontebok/adapters/rackup_options"

# Tests the handler that rackup and `rails server` find by the server's name.
class RackHandlerTest < Minitest::Test
  def test_the_handler_is_found_by_either_name
    %w[bontebok Bontebok].each { |name| assert_equal "Rackup::Handler::Bontebok", Rackup::Handler.get(name).name }
  end

  # The arguments of the Server for a program that passes a block.
  def test_options_for_rackup_itself_are_left_out
    { { Host: "127.0.0.1", Port: 8080, workers: 0 } => { Host: "127.0.0.1", Port: 8080, workers: 0 },
      { environment: "test" } => { Port: 9292, environment: "test" },
      { config: "config.ru", server: "bontebok", pid: "a.pid", Port: nil } => { Port: 9292 } }
      .each { |options, arguments| assert_equal arguments, Bontebok::RackupOptions.for_server(options), options }
  end

  # Rails passes restart_cmd. For rackup it is an option like any other.
  def test_a_start_that_fails_ends_with_a_message_and_a_status
    handler = Rackup::Handler.get("bontebok")
    { Nonsense: "See rackup -s bontebok -h.", restart_cmd: "Did you mean RestartFile?" }.each do |name, hint|
      error = nil
      _, text = capture_io { error = assert_raises(SystemExit) { handler.run(->(_) {}, name => "1") } }
      assert_equal [2, "bontebok: rackup -O: unknown option #{name}. #{hint}\n"], [error.status, text]
    end
  end
end
