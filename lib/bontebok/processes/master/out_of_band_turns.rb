# frozen_string_literal: true

module Bontebok
  # Limits how many workers of a master do out-of-band work (hook out_of_band, garbage collection) at the same time: at
  # most half of the workers. The other workers serve new clients. A turn is a lock on a file. If the worker dies, the
  # kernel releases the lock.
  class OutOfBandTurns
    # Called in the master before it forks. workers: their largest number. The locked files are pipes that carry no
    # data. Pipes are used because no other process can open them, and because they disappear with their processes.
    def initialize(workers)
      @files = Array.new(half(workers)) { IO.pipe.tap { |_, writer| writer.close }.first }
      self.workers = workers
    end

    # Called in the master before it forks a worker. count: the present number of workers.
    def workers=(count)
      @most = half(count)
    end

    # Called in a worker. Returns true if the worker has got a turn, or if the files cannot be locked (no /proc, no free
    # descriptor).
    def take
      @taken = holds.find { |hold| hold.flock(File::LOCK_EX | File::LOCK_NB) }
      !@taken.nil?
    rescue SystemCallError
      true
    end

    # Unlocks the file. A close would not be enough, because a process that the application has forked may have a copy
    # of the descriptor, and the copy keeps the lock.
    def give_back
      @taken&.flock(File::LOCK_UN)
      @taken = nil
    end

    # Called in a process that the application has forked.
    def disown
      [*@files, *@holds].each(&:close)
    end

    private

    def half(workers) = [workers / 2, 1].max

    # Each worker opens the files again, because all processes that inherit a descriptor share its lock.
    def holds
      @holds ||= @files.first(@most).map do |file|
        File.open("/proc/self/fd/#{file.fileno}", File::RDONLY | File::NONBLOCK)
      end
    end
  end
end
