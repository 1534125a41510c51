# frozen_string_literal: true

require_relative "../start_error"

module Bontebok
  # If the user touches this file, the server loads the application again. `rails restart` touches tmp/restart.txt. The
  # file is for users that are not allowed to send signals to the server. A thread of the supervisor watches the file.
  class RestartFile
    # Seconds between two checks of the file.
    INTERVAL = 2

    class << self
      # Begins to watch the file. The block is called for each change since `seen`, a result of .look, in a thread of
      # its own. Raises StartError.
      def watch(path, seen: look(path), interval: INTERVAL, &changed)
        new(path, seen, interval, &changed)
      end

      # The time of the last change, as [seconds, nanoseconds]; an empty list: there is no file.
      def look(path)
        File.mtime(path).then { |time| [time.to_i, time.nsec] }
      rescue SystemCallError
        []
      end
    end

    # The last result of .look that was not empty.
    attr_reader :seen

    def initialize(path, seen, interval, &changed)
      @path = path
      @seen = seen
      @thread = Thread.new { watch(interval, &changed) }
    rescue ThreadError => e
      raise StartError, "no room for threads: #{e.message}"
    end

    # A new watch of the same file would not see the changes since the last look of this one.
    def watches?(path) = path == @path && @thread.alive?

    def stop = @thread.kill

    private

    # A removal of the file is no change.
    def watch(interval)
      loop do
        sleep(interval)
        now = RestartFile.look(@path)
        yield unless now.empty? || now == @seen
        @seen = now unless now.empty?
      end
    end
  end
end
