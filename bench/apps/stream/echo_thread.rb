# frozen_string_literal: true

require "nio"

# The thread of threads.ru that reads from all WebSockets. The first WebSocket starts it: at that time the server has
# forked its worker.
class EchoThread
  def initialize
    @mutex = Mutex.new
    @fresh = Queue.new
  end

  def add(echo)
    @fresh << echo
    @mutex.synchronize { start unless @selector }
    @selector.wakeup
  end

  private

  def start
    @selector = NIO::Selector.new
    Thread.new { loop { turn } }
  end

  def turn
    @selector.select do |monitor|
      next if monitor.value.receive

      monitor.close
      monitor.io.close
    end
    register(@fresh.pop) until @fresh.empty?
  end

  def register(echo)
    @selector.register(echo.io, :r).value = echo
  end
end
