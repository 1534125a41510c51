# frozen_string_literal: true

require "test_helper"
require_relative "support/idle_cases"
require_relative "support/servers/on_bontebok"
require_relative "support/servers/on_puma"
require_relative "support/websocket_cases"

# Runs applications with WebSocket libraries behind Bontebok.
class WebsocketOnBontebokTest < Support::TestCase
  include Interop::OnBontebok
  include Interop::WebsocketCases
  include Interop::IdleCases

  # A client may send its first message together with the request. The server has read it already, and gives it to the
  # socket back.
  def test_a_message_behind_the_request_arrives
    serve("driver")
    socket = Interop::Websocket.new(@server.address, behind: Interop::Websocket.frame(:text, "early"))
    assert_equal [:text, "early"], socket.receive
    assert_equal 1000, socket.close
  end
end

# Runs the same applications behind puma, in the long form.
if Support::Length::LONG
  class WebsocketOnPumaTest < Support::TestCase
    include Interop::OnPuma
    include Interop::WebsocketCases
    include Interop::IdleCases
  end
end
