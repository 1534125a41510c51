# frozen_string_literal: true

require "etc"

require_relative "../start_error"
require_relative "../system/directory_lock"
require_relative "../system/error_text"

module Bontebok
  # The file with the pid of the started process. Other programs read it. The file is written under another name and
  # then renamed, so nobody reads an incomplete file. The process keeps a lock on the file: see #lives?.
  class Pidfile
    # Only the owner may write to the file, because scripts of root kill the process that it names.
    MODE = 0o644
    # Seconds. The kernel's clocks for files and for processes differ by some milliseconds.
    CLOCKS_DIFFER = 1
    # Maximum number of bytes that are read. A pid is shorter.
    LONGEST = 64

    class << self
      # The path of the file that this process has written; nil: none.
      attr_reader :held

      # Runs the block, and then removes the file, which has the pid already; path nil: without a file.
      def keep(path)
        @held = path
        @lock = new(path).lock if path
        yield
      ensure
        remove
      end

      # Called before an end of the process that runs no ensure.
      def remove
        new(@held).remove if @held
        disown
      end

      # Called in a forked process, too. The copy of the lock would outlive this process.
      def disown
        @lock&.close
        @lock = nil
      end
      alias close disown
    end

    def initialize(path)
      @path = path
    end

    # Raises StartError if the file cannot be written, or if it holds the pid of a server that lives.
    def write
      prepare { File.rename(temporary, @path) }
    end

    # Makes the checks of #write, and leaves the file as it is. Raises StartError.
    def check
      prepare { raise Errno::EISDIR if File.directory?(@path) }
    end

    # Returns the locked file, or nil if it is not this process's file, or if the lock fails.
    def lock
      return unless number == Process.pid

      file = open
      return file if file.flock(File::LOCK_EX | File::LOCK_NB)

      file.close
    rescue SystemCallError
      file&.close
    end

    # Removes the file if it holds the pid of this process. Another server and forked processes have other pids.
    def remove
      File.unlink(@path) if number == Process.pid
    rescue SystemCallError
      nil
    end

    private

    # The block gets the file under its temporary name. Servers that start at the same moment must check the file one
    # after the other, because each of them would find no running server.
    def prepare
      DirectoryLock.hold(File.dirname(@path)) do
        owner = number
        raise StartError, "#{@path} has the pid of a running server: #{owner}" if lives?(owner)

        write_temporary
        yield
      ensure
        remove_temporary
      end
    rescue SystemCallError => e
      raise StartError, "cannot write the file #{@path}: #{ErrorText.of(e, temporary)}"
    end

    # EXCL: the file must be new. In a directory where other users may write, one of them could have put a link there.
    def write_temporary
      remove_temporary
      File.write(temporary, "#{Process.pid}\n", mode: File::WRONLY | File::CREAT | File::EXCL, perm: MODE)
    end

    def remove_temporary
      File.unlink(temporary)
    rescue SystemCallError
      nil # mostly: there is no such file
    end

    def temporary = "#{@path}.#{Process.pid}"

    # NONBLOCK: the path may be a pipe without a writer.
    def open(&)
      File.open(@path, File::RDONLY | File::NONBLOCK, &)
    end

    # The pid in the file, or nil if no pid can be read.
    def number
      text = open { |file| file.read_nonblock(LONGEST) }
      Integer(text, 10)
    rescue SystemCallError, EOFError, ArgumentError
      nil
    end

    # True if the process `owner` is a running server; a zombie is not. A running Bontebok has locked the file. Other
    # servers have not. After a crash or a reboot, another process may have the pid: this process (in a container), one
    # that began after the file was written, or one that is no program of Ruby.
    def lives?(owner)
      return false if owner.nil? || owner == Process.pid || !used?(owner)

      state, ticks = File.read("/proc/#{owner}/stat").rpartition(")").last.split.values_at(0, 19)
      state != "Z" &&
        (locked? || (began(ticks.to_i) <= File.mtime(@path) + CLOCKS_DIFFER && program(owner) == program("self")))
    rescue SystemCallError
      true # the process is hidden from us
    end

    # The name of the interpreter, without its version. Raises SystemCallError for a thread of the kernel, and if the
    # process belongs to another user.
    def program(process)
      File.basename(File.readlink("/proc/#{process}/exe"))[/\A[a-z]+/]
    end

    def locked?
      open { |file| !file.flock(File::LOCK_SH | File::LOCK_NB) }
    end

    def used?(number)
      Process.kill(0, number) if number.positive?
    rescue Errno::EPERM
      true
    rescue Errno::ESRCH, RangeError
      false
    end

    # ticks: clock ticks from boot to the start of the process, from proc(5). Returns the Time at which the process was
    # started.
    def began(ticks)
      age = Process.clock_gettime(Process::CLOCK_BOOTTIME) - ticks.fdiv(Etc.sysconf(Etc::SC_CLK_TCK))
      Time.now - age
    end
  end
end
