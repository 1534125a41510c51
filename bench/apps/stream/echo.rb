# frozen_string_literal: true

require "websocket/driver"

# One WebSocket client of threads.ru. It sends each message back. websocket-driver calls env, url and write.
class Echo
  attr_reader :env, :io

  def initialize(env, io)
    @env = env
    @io = io
    @driver = WebSocket::Driver.rack(self)
    @driver.on(:message) { |event| @driver.text(event.data) }
    @driver.on(:close) { @io.close }
    @driver.start
  end

  def url = "ws://#{env['HTTP_HOST']}#{env['PATH_INFO']}"
  def write(bytes) = @io.write(bytes)

  # Returns false if the client has gone.
  def receive
    bytes = @io.read_nonblock(4096, exception: false)
    @driver.parse(bytes) if bytes.is_a?(String)
    !bytes.nil? && !@io.closed?
  rescue IOError, SystemCallError
    false
  end
end
