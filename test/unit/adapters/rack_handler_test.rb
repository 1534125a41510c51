# frozen_string_literal: true

require "test_helper"
require "rackup"

# Tests the handler that rackup and `rails server` find by the server's name.
class RackHandlerTest < Minitest::Test
  def test_the_handler_is_found_by_either_name
    %w[bontebok Bontebok].each { |name| assert_equal "Rackup::Handler::Bontebok", Rackup::Handler.get(name).name }
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
