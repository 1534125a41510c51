# frozen_string_literal: true

class DownloadsController < ApplicationController
  def show
    send_file Rails.public_path.join("large.bin")
  end
end
