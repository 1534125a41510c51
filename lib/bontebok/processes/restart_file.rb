# frozen_string_literal: true

module Bontebok
  # A file that is touched to have the application loaded anew (tmp/restart.txt, by `rails restart`), for those who may
  # write it and may not send a signal. A thread of the supervisor looks at it.
  module RestartFile
    INTERVAL = 2

    class << self
      # The block is called in the thread, which is returned, for each change.
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

      # nil: there is none, which asks for nothing.
      def changed(path)
        File.mtime(path)
      rescue SystemCallError
        nil
      end
    end
  end
end
