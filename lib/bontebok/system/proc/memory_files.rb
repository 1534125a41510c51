# frozen_string_literal: true

require_relative "process_children"

module Bontebok
  # Finds the files in memory (memfd_create(2)) of one name that other processes have open, and opens them to read. So a
  # command can read them while these processes do not answer. Any process can give a file this name, so what the files
  # contain must be checked.
  class MemoryFiles
    # The server's files are among the first descriptors of a process, and it has few of them.
    MOST_DESCRIPTORS = 1_024
    MOST_FILES = 64
    # Supervisor, masters, workers.
    GENERATIONS = 3
    # Between the look and the open, the descriptor can become a pipe or a terminal.
    FLAGS = File::RDONLY | File::NONBLOCK | File::NOCTTY
    private_constant(*constants)

    # known: open files that are left out.
    def initialize(name, known: [])
      @link = "/memfd:#{name} (deleted)"
      @known = known.map { |file| identity(file) }
      @files = {} # { device and inode => File }
      @refused = false
    end

    # The open files, each once. The caller closes them.
    def files = @files.values

    # True if this user may not see or open the files of a process.
    def refused? = @refused

    # Opens the files of a process. Returns self.
    def search(pid)
      numbers(pid).each { |number| take("/proc/#{pid}/fd/#{number}") }
      self
    end

    # Searches the process. If it shows no file, its children are searched, and then their children. Returns self.
    def search_family(pid)
      pids = [pid]
      GENERATIONS.times do
        pids.each { |one| search(one) }
        break if @files.any?

        pids = pids.flat_map { |one| ProcessChildren.of(one) }
      end
      self
    end

    private

    def numbers(pid)
      noting_refusal { Dir.children("/proc/#{pid}/fd").map(&:to_i).min(MOST_DESCRIPTORS) } || []
    end

    def take(path)
      noting_refusal { keep(File.new(path, FLAGS)) if @files.size < MOST_FILES && File.readlink(path) == @link }
    end

    # Closes the file if it is another one, or is known.
    def keep(file)
      identity = identity(file)
      wanted = ![*@known, *@files.keys].include?(identity) && file.stat.file? &&
               File.readlink("/proc/self/fd/#{file.fileno}") == @link
      @files[identity] = file if wanted
    ensure
      file.close unless wanted
    end

    def identity(file) = file.stat.then { |stat| [stat.dev, stat.ino] }

    def noting_refusal
      yield
    rescue Errno::EACCES, Errno::EPERM
      @refused = true
      nil
    rescue SystemCallError
      nil
    end
  end
end
