# frozen_string_literal: true

module Bontebok
  # A lock on a directory, for processes that change its files at one moment. Changes take less than a millisecond.
  module DirectoryLock
    ATTEMPTS = 25
    # Seconds between two attempts.
    INTERVAL = 0.02
    private_constant :ATTEMPTS, :INTERVAL

    class << self
      # Runs the block under the lock, or without it, if the directory cannot be read or another process keeps the lock.
      def hold(path)
        directory = lock(path)
        yield
      ensure
        release(directory) if directory
      end

      private

      # A process that was forked in the block has a copy of the descriptor, so a close alone would not release the
      # lock. Some file systems have no locks.
      def release(directory)
        directory.flock(File::LOCK_UN)
      rescue SystemCallError
        nil
      ensure
        directory.close
      end

      # With the dot, only a directory can be opened: the open of a pipe waits for a writer.
      def lock(path)
        directory = File.new("#{path}/.")
        ATTEMPTS.times do
          return directory if directory.flock(File::LOCK_EX | File::LOCK_NB)

          sleep(INTERVAL)
        end
        directory
      rescue SystemCallError
        directory
      end
    end
  end
end
