# frozen_string_literal: true

module Bontebok
  # A file that the user touches to have the application loaded again: tmp/restart.txt, which `rails restart` touches.
  # It is for users that may write the file but may not send a signal. A thread of the supervisor watches the file.
  module RestartFile
    # Seconds between two checks of the file.
    INTERVAL = 2

    class << self
      # Calls the block for each change, in a thread of its own. Returns the thread.
      def watch(path, interval: INTERVAL)
        last = changed(path)
        Thread.new do
          loop do
            sleep(interval)
            now = changed(path)
            yield if now && now != last
            last = now || last
          end
        end
      end

      private

      # nil: there is no such file. This counts as no change.
      def changed(path)
        File.mtime(path)
      rescue SystemCallError
        nil
      end
    end
  end
end
