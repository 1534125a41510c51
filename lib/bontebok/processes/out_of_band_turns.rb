# frozen_string_literal: true

module Bontebok
  # Limits how many of a master's workers do out-of-band work at the same moment: half of them at most, so that some
  # worker is always free for new clients. A turn is a file lock: the kernel releases the lock of a worker that dies.
  class OutOfBandTurns
    # For the master, before it forks. The locked files are pipes that carry no data: no other process can open them,
    # and they disappear with their processes.
    def initialize(workers)
      @files = Array.new([workers / 2, 1].max) { IO.pipe.tap { |_, writer| writer.close }.first }
    end

    # For a worker. Returns true if the worker has a turn now. Without /proc or a free descriptor, a worker needs no
    # turn.
    def take
      @taken = holds.find { |hold| hold.flock(File::LOCK_EX | File::LOCK_NB) }
      !@taken.nil?
    rescue SystemCallError
      true
    end

    # Does not only close the file: a process that the application has forked may hold it, too, and keep the lock.
    def give_back
      @taken&.flock(File::LOCK_UN)
      @taken = nil
    end

    # For a process that the application forks.
    def disown
      [*@files, *@holds].each(&:close)
    end

    private

    # An inherited file shares its lock with the other processes that inherit it. So each worker opens the files again.
    def holds
      @holds ||= @files.map { |file| File.open("/proc/self/fd/#{file.fileno}", File::RDONLY | File::NONBLOCK) }
    end
  end
end
