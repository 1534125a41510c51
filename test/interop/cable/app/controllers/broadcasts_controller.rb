# frozen_string_literal: true

# Appends a note with a number to every open page.
class BroadcastsController < ApplicationController
  skip_forgery_protection

  def create
    number = Integer(params.require(:number))
    Turbo::StreamsChannel.broadcast_append_to("notes", target: "notes", html: "<li data-number=\"#{number}\"></li>")
    head :no_content
  end
end
