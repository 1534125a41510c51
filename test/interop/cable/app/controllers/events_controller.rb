# frozen_string_literal: true

# Server-sent events with numbers. A response ends after LENGTH events, and the browser continues with the next number
# on a new connection: so no response delays the end of its worker for long.
class EventsController < ApplicationController
  include ActionController::Live

  LENGTH = 20
  PAUSE = 0.02
  RETRY_MILLISECONDS = 20

  def numbers
    stream { |number| number }
  end

  def turbo_streams
    stream do |number|
      "<turbo-stream action=\"append\" target=\"ticks\"><template><li>#{number}</li></template></turbo-stream>"
    end
  end

  private

  def stream
    response.headers["Content-Type"] = "text/event-stream"
    response.headers["Cache-Control"] = "no-store"
    response.stream.write("retry: #{RETRY_MILLISECONDS}\n\n")
    first = request.headers["Last-Event-ID"].to_i + 1
    first.upto(first + LENGTH - 1) do |number|
      response.stream.write("id: #{number}\ndata: #{yield number}\n\n")
      sleep PAUSE
    end
  rescue ActionController::Live::ClientDisconnected
    nil
  ensure
    response.stream.close
  end
end
