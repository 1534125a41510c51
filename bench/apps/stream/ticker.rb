# frozen_string_literal: true

require_relative "bodies"

# The SSE clients of threads.ru, and the thread that writes each message to all of them.
class Ticker
  def initialize
    @streams = []
    @mutex = Mutex.new
  end

  def add(stream)
    @mutex.synchronize do
      @streams << stream
      broadcaster
    end
  end

  private

  def broadcaster
    @broadcaster ||= Thread.new { Bodies.each_message { |data| broadcast("data: #{data}\n\n") } }
  end

  def broadcast(message)
    gone = @mutex.synchronize { @streams.dup }.reject { |stream| sent?(stream, message) }
    @mutex.synchronize { @streams -= gone } if gone.any?
  end

  def sent?(stream, message)
    stream.write(message)
    stream.flush
    true
  rescue IOError, SystemCallError
    false
  end
end
