# frozen_string_literal: true

class LiveController < ApplicationController
  include ActionController::Live

  def show
    response.headers["Content-Type"] = "text/event-stream"
    3.times { |number| response.stream.write("data: #{number}\n\n") }
  ensure
    response.stream.close
  end
end
