# frozen_string_literal: true

require_relative "websocket"

module Interop
  # Tests of WebSocket libraries that use rack.hijack, or a body that reads and writes. A test case that includes this
  # module also includes OnPuma or OnBontebok. The applications are in test/interop/apps/websocket. They echo each
  # message, and answer other requests with the number of open WebSockets.
  module WebsocketCases
    DIRECTORY = File.join(ROOT, "test/interop/apps/websocket")
    ENVIRONMENT = { "BUNDLE_GEMFILE" => File.join(ROOT, "gemfiles/websocket.gemfile"), "RUBYLIB" => nil,
                    "RUBYOPT" => "-rbundler/setup" }.freeze
    # More WebSockets than threads.
    SOCKETS = 30
    # The messages have a length of one byte, of two bytes and of eight bytes. The last one fills the socket's buffers.
    MESSAGES = ["x", "", "Käthe", "y" * 126, "z" * 70_000, "w" * 3_000_000].freeze

    def test_faye_websocket
      serve("faye")
      check_many
      check_one
    end

    def test_websocket_driver
      serve("driver")
      check_many
      check_one
    end

    def test_websocket_driver_with_nio4r
      serve("driver_nio4r")
      check_many
      check_one
    end

    # A WebSocket holds a thread until it ends.
    def test_async_websocket
      serve("async", threads: 2)
      check_one
    end

    private

    def serve(application, threads: 1)
      @server = start_server(directory: DIRECTORY, env: ENVIRONMENT, rackup: "#{application}.ru", threads: threads)
    end

    # The server has one thread. It answers although many WebSockets are open.
    def check_many
      sockets = Array.new(SOCKETS) { Websocket.new(@server.address) }
      await_open(SOCKETS)
      sockets.each_with_index { |socket, number| socket.send_message(:text, number.to_s) }
      assert_equal(Array.new(SOCKETS) { |number| [:text, number.to_s] }, sockets.map(&:receive))
      gone, closed = sockets.partition.with_index { |_socket, number| number.even? }
      gone.each { |socket| socket.client.reset }
      assert_equal [1000] * closed.size, closed.map(&:close)
      await_open(0)
    end

    def check_one
      socket = Websocket.new(@server.address)
      MESSAGES.each { |text| assert_echo socket, :text, text }
      assert_echo socket, :binary, "\0\xff\x80"
      100.times { |number| socket.send_message(:text, number.to_s) }
      assert_equal(Array.new(100) { |number| [:text, number.to_s] }, Array.new(100) { socket.receive })
      socket.send_message(:ping, "are you there?")
      assert_equal [:pong, "are you there?"], socket.receive
      await_open(1)
      assert_equal 1000, socket.close
      await_open(0)
    end

    def assert_echo(socket, kind, text)
      socket.send_message(kind, text)
      echo = socket.receive
      assert_equal [kind, text.bytesize], [echo.first, echo.last.bytesize]
      assert_equal text.b, echo.last
    end

    # Waits until the application has `count` open WebSockets.
    def await_open(count)
      seen = nil
      eventually("#{count} open WebSockets", seen: -> { [seen] }) { (seen = @server.get.body) == count.to_s }
    end
  end
end
