# frozen_string_literal: true

module Bontebok
  # Who of a master's workers may be out of band at the same moment: half of them at most, so that there is always
  # somebody for the clients who connect. Turns are locks: the kernel takes them back from a worker that dies.
  class OutOfBandTurns
    # In the master, before it forks. What is locked is a pipe, through which nothing goes: a file that nobody else can
    # open, and that is gone with its processes.
    def initialize(workers)
      @files = Array.new([workers / 2, 1].max) { IO.pipe.tap { |_, writer| writer.close }.first }
    end

    # In a worker. True: it has one now. Where there is no /proc, or no descriptor left, each goes by itself.
    def take
      @taken = holds.find { |hold| hold.flock(File::LOCK_EX | File::LOCK_NB) }
      !@taken.nil?
    rescue SystemCallError
      true
    end

    # To close it would not be enough: a process that the application forked meanwhile may have it as well.
    def give_back
      @taken&.flock(File::LOCK_UN)
      @taken = nil
    end

    # In a process that the application forks.
    def disown
      [*@files, *@holds].each(&:close)
    end

    private

    # To inherit a file is to share its lock: each worker opens it anew.
    def holds
      @holds ||= @files.map { |file| File.open("/proc/self/fd/#{file.fileno}", File::RDONLY | File::NONBLOCK) }
    end
  end
end
