# frozen_string_literal: true

module Bontebok
  # If the user touches this file, the server loads the application again. `rails restart` touches tmp/restart.txt. The
  # file is for users that are not allowed to send signals to the server. A thread of the supervisor watches the file.
  module RestartFile
    # Seconds between two checks of the file.
    INTERVAL = 2

    class << self
      # The time of the last change that the last watch has seen, as [seconds, nanoseconds]; an empty list: no file.
      def seen
        @seen ? [@seen.to_i, @seen.nsec] : []
      end

      # Calls the block for each change since `last`, a result of .changed, in a thread of its own. Returns the thread.
      def watch(path, last: changed(path), interval: INTERVAL)
        @seen = last
        Thread.new do
          loop do
            sleep(interval)
            now = changed(path)
            yield if now && now != last
            @seen = last = now || last
          end
        end
      end

      # The time of the last change, or nil if there is no file. A removal of the file is no change.
      def changed(path)
        File.mtime(path)
      rescue SystemCallError
        nil
      end
    end
  end
end
