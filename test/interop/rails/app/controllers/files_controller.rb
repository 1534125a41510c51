# frozen_string_literal: true

class FilesController < ApplicationController
  def create
    file = params.require(:file)
    render plain: "#{file.original_filename} #{file.size} #{Digest::SHA256.hexdigest(file.read)}"
  end

  # As Active Storage serves a file of a disk.
  def part
    path = Rails.public_path.join("robots.txt")
    self.status, fields, self.response_body = Rack::Files.new(nil).serving(request, path)
    response.headers.merge!(fields)
  end
end
