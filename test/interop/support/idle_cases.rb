# frozen_string_literal: true

require_relative "websocket"
require_relative "websocket_cases"

module Interop
  # A test of many WebSockets that send nothing. They hold no thread: the only thread answers other requests. A test
  # case that includes this module also includes OnPuma or OnBontebok, and WebsocketCases.
  module IdleCases
    IDLE = Support::Length.of(300, 5000)
    # Descriptors for other purposes, in the test and in the server.
    SPARE = 100
    REQUESTS = 200

    def test_idle_websockets_hold_no_thread
      allow_descriptors(IDLE + SPARE)
      serve("driver_nio4r")
      await_open(0)
      before = descriptors
      sockets = Array.new(IDLE) { Websocket.new(@server.address) }
      await_open(IDLE)
      assert_requests_are_served
      assert_all_echo sockets
      sockets.each { |socket| socket.client.close }
      await_open(0)
      eventually("closed sockets", seen: -> { [before, descriptors] }) { descriptors < before + SPARE }
    ensure
      Process.setrlimit(:NOFILE, *@limits)
    end

    private

    # The server inherits the limit.
    def allow_descriptors(count)
      soft, hard = @limits = Process.getrlimit(:NOFILE)
      skip "a process may have only #{hard} descriptors" if hard < count

      Process.setrlimit(:NOFILE, [soft, count].max, hard)
    end

    def descriptors
      Support::ProcessTable.descriptors(@server.pid).size
    end

    def assert_requests_are_served
      @server.connect do |client|
        REQUESTS.times { assert_equal IDLE.to_s, client.get.body }
      end
    end

    def assert_all_echo(sockets)
      sockets.each_with_index { |socket, number| socket.send_message(:text, number.to_s) }
      echoes = sockets.map { |socket| socket.receive.last }
      assert_equal((0...IDLE).map(&:to_s), echoes)
    end
  end
end
