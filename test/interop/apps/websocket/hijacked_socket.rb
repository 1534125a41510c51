# frozen_string_literal: true

require "websocket/driver"

# A hijacked socket with a WebSocket::Driver that echoes each message. The driver calls #env and #write.
class HijackedSocket
  @open = 0

  class << self
    # The number of open WebSockets.
    attr_accessor :open

    # Answers a request without Upgrade.
    def tell
      [200, { "content-type" => "text/plain" }, [open.to_s]]
    end
  end

  attr_reader :env, :io

  def initialize(env)
    @env = env
    @io = env["rack.hijack"].call
    @driver = WebSocket::Driver.rack(self)
    @driver.on(:open) { HijackedSocket.open += 1 }
    @driver.on(:message) { |event| echo(event.data) }
    @driver.on(:close) { close }
  end

  def start = @driver.start

  def write(bytes)
    @io.write(bytes)
  rescue SystemCallError, IOError
    close
  end

  # Reads bytes without waiting. Returns false if the WebSocket is closed.
  def receive
    case (bytes = @io.read_nonblock(16_384, exception: false))
    when :wait_readable then nil
    when nil then close
    else @driver.parse(bytes)
    end
    !@io.closed?
  rescue SystemCallError, IOError
    close
    false
  end

  private

  def echo(data)
    data.encoding == Encoding::UTF_8 ? @driver.text(data) : @driver.binary(data)
  end

  def close
    return if @io.closed?

    HijackedSocket.open -= 1
    @io.close
  end
end
