# frozen_string_literal: true

require_relative "start_error"

module Bontebok
  # The option Directory: where relative names of files begin, also for the application.
  module WorkingDirectory
    # At once. place: who wants it. Raises StartError.
    def self.enter(path, place)
      Dir.chdir(path)
    rescue SystemCallError => e
      raise StartError, "#{place}: cannot change to the folder #{path}: #{SystemCallError.new(nil, e.errno).message}"
    end
  end
end
