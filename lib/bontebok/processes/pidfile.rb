# frozen_string_literal: true

require "etc"
require "fileutils"

require_relative "../start_error"

module Bontebok
  # The file in which the started process tells others its number. It is there only whole: written under another name
  # and renamed.
  class Pidfile
    # Whoever may write to it can have root end any process.
    MODE = 0o644
    # The kernel's clocks for files and for processes differ by some milliseconds.
    CLOCKS_DIFFER = 1
    # Bytes; a number has fewer.
    LONGEST = 64

    def initialize(path)
      @path = path
    end

    # Raises StartError, also when the process lives that has written its number there.
    def write
      owner = number
      raise StartError, "#{@path} has the number of a server that lives: #{owner}" if lives?(owner)

      write_temporary
      File.rename(temporary, @path)
    rescue SystemCallError => e
      FileUtils.rm_f(temporary)
      raise StartError, "cannot write the file #{@path}: #{SystemCallError.new(nil, e.errno).message}"
    end

    # If it is ours: a process that was forked meanwhile, or another server, has a number of its own.
    def remove
      File.unlink(@path) if number == Process.pid
    rescue SystemCallError
      nil
    end

    private

    # A new file: in a directory where others may write they could have put a link there.
    def write_temporary
      FileUtils.rm_f(temporary)
      File.write(temporary, "#{Process.pid}\n", mode: File::WRONLY | File::CREAT | File::EXCL, perm: MODE)
    end

    def temporary
      "#{@path}.#{Process.pid}"
    end

    # nil: there is none to be read. What lies there may be anything, a pipe that nobody writes to for example.
    def number
      text = File.open(@path, File::RDONLY | File::NONBLOCK) { |file| file.read_nonblock(LONGEST) }
      Integer(text, 10)
    rescue SystemCallError, EOFError, ArgumentError
      nil
    end

    # A number that is in use need not be that server's any more: a zombie serves nobody, and whoever began after the
    # file was written is another process, since a crash or a reboot. In a container we may have it ourselves.
    def lives?(owner)
      return false if owner.nil? || owner == Process.pid || !used?(owner)

      state, ticks = File.read("/proc/#{owner}/stat").rpartition(")").last.split.values_at(0, 19)
      state != "Z" && began(ticks.to_i) <= File.mtime(@path) + CLOCKS_DIFFER
    rescue SystemCallError
      true # it is not shown to us
    end

    def used?(number)
      Process.kill(0, number) if number.positive?
    rescue Errno::EPERM
      true
    rescue Errno::ESRCH, RangeError
      false
    end

    # ticks: since boot, as proc(5) has them.
    def began(ticks)
      age = Process.clock_gettime(Process::CLOCK_BOOTTIME) - ticks.fdiv(Etc.sysconf(Etc::SC_CLK_TCK))
      Time.now - age
    end
  end
end
