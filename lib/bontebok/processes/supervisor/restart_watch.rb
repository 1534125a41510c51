# frozen_string_literal: true

require_relative "../restart_file"
require_relative "../../start_error"

module Bontebok
  class Supervisor
    # Watches the restart file of the configuration that serves.
    class RestartWatch
      # directory: of relative names. seen: what the former program of this process has seen (see #seen); nil: there is
      # no former program. The block is called in another thread when the file has changed.
      def initialize(directory, seen, &changed)
        @directory = directory
        @options = { last: (Time.at(*seen, :nsec) unless seen.empty?) } if seen
        @changed = changed
      end

      # A watch of the same file goes on, because a new watch would not see the changes since the last look. Raises
      # StartError.
      def configure(config)
        path = config[:restart_file]&.then { |name| File.expand_path(name, @directory) }
        return if path == @path && @thread&.alive?

        @thread&.kill
        @path = path
        @thread = path && RestartFile.watch(path, **(@options || {}), &@changed)
        @options = nil
      rescue ThreadError => e
        raise StartError, "no room for threads: #{e.message}"
      end

      # For the State: see RestartFile.seen; nil: no file is watched.
      def seen = @thread && RestartFile.seen
    end
  end
end
