# frozen_string_literal: true

class EchoChannel < ApplicationCable::Channel
  def echo(data)
    transmit({ number: data["number"], pid: Process.pid })
  end
end
