# frozen_string_literal: true

class FilesController < ApplicationController
  def create
    file = params.require(:file)
    render plain: "#{file.original_filename} #{file.size} #{Digest::SHA256.hexdigest(file.read)}"
  end
end
