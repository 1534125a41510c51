# frozen_string_literal: true

require_relative "start_error"

module Bontebok
  # The files that standard error and output go to by configuration. Every process of the server inherits them.
  module LogFiles
    # Opens them, or again those that are there now under their names. Raises StartError.
    def self.open(config)
      { log: $stderr, stdout: $stdout }.each do |key, stream|
        path = config[key] or next
        # Given the path, reopen would have closed the stream before it finds that there is no such folder.
        File.open(path, "a") { |file| stream.reopen(file) }
        stream.sync = true
      rescue SystemCallError => e
        raise StartError, "cannot write to #{path}: #{SystemCallError.new(nil, e.errno).message}"
      end
    end
  end
end
