# frozen_string_literal: true

require "etc"
require "fileutils"

require_relative "../start_error"

module Bontebok
  # The file that tells other programs the pid of the started process. It is never incomplete: it is written under
  # another name and renamed.
  class Pidfile
    # Only the owner may write: write access to this file is the power to make root kill any process.
    MODE = 0o644
    # Seconds. The kernel's clocks for files and for processes differ by some milliseconds.
    CLOCKS_DIFFER = 1
    # Bytes; a pid has fewer.
    LONGEST = 64

    def initialize(path)
      @path = path
    end

    # Raises StartError if the file cannot be written, or if it holds the pid of a server that lives.
    def write
      owner = number
      raise StartError, "#{@path} has the pid of a running server: #{owner}" if lives?(owner)

      write_temporary
      File.rename(temporary, @path)
    rescue SystemCallError => e
      FileUtils.rm_f(temporary)
      raise StartError, "cannot write the file #{@path}: #{SystemCallError.new(nil, e.errno).message}"
    end

    # Removes the file if it holds our pid. A process that was forked meanwhile, or another server, has another pid.
    def remove
      File.unlink(@path) if number == Process.pid
    rescue SystemCallError
      nil
    end

    private

    # The file must be new (EXCL): in a directory where others may write, they could have put a link in its place.
    def write_temporary
      FileUtils.rm_f(temporary)
      File.write(temporary, "#{Process.pid}\n", mode: File::WRONLY | File::CREAT | File::EXCL, perm: MODE)
    end

    def temporary
      "#{@path}.#{Process.pid}"
    end

    # The pid in the file; nil: none can be read. The path may name anything, for example a pipe without a writer.
    def number
      text = File.open(@path, File::RDONLY | File::NONBLOCK) { |file| file.read_nonblock(LONGEST) }
      Integer(text, 10)
    rescue SystemCallError, EOFError, ArgumentError
      nil
    end

    # Whether the owner is a running server. A zombie is none. After a crash or a reboot, another process may have the
    # pid: it began after the file was written, or in a container it is this process.
    def lives?(owner)
      return false if owner.nil? || owner == Process.pid || !used?(owner)

      state, ticks = File.read("/proc/#{owner}/stat").rpartition(")").last.split.values_at(0, 19)
      state != "Z" && began(ticks.to_i) <= File.mtime(@path) + CLOCKS_DIFFER
    rescue SystemCallError
      true # the process is hidden from us
    end

    def used?(number)
      Process.kill(0, number) if number.positive?
    rescue Errno::EPERM
      true
    rescue Errno::ESRCH, RangeError
      false
    end

    # ticks: clock ticks from boot to the start of the process, from proc(5). Returns the Time of that start.
    def began(ticks)
      age = Process.clock_gettime(Process::CLOCK_BOOTTIME) - ticks.fdiv(Etc.sysconf(Etc::SC_CLK_TCK))
      Time.now - age
    end
  end
end
