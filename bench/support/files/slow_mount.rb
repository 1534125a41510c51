# frozen_string_literal: true

require "fileutils"
require "open3"

module Bench
  module Files
    # A directory whose look-ups and reads wait: slow_mount.c shows the files of another directory there. It needs root,
    # /dev/fuse and libfuse3.
    class SlowMount
      SOURCE = File.join(__dir__, "slow_mount.c")

      # path: the directory. source: the directory that has the files.
      attr_reader :path, :source

      # Why this machine cannot mount it, or nil.
      def self.missing
        return "root" unless Process.uid.zero?
        return "/dev/fuse" unless File.readable?("/dev/fuse")

        "libfuse3-dev" unless system("pkg-config", "--exists", "fuse3")
      end

      # dir: for the program, the directories and the files that hold the calls up. longest: ms, after which a call goes
      # on nevertheless.
      def initialize(dir, longest:)
        @hold = File.join(dir, "hold")
        @path = FileUtils.mkdir_p(File.join(dir, "slow")).first
        @source = FileUtils.mkdir_p(File.join(dir, "source")).first
        program = File.join(dir, "slow_mount")
        compile(program)
        @pid = spawn(program, @source, @hold, longest.to_s, @path, in: File::NULL, out: File::NULL, err: File::NULL)
        sleep 0.01 until mounted? || Process.wait(@pid, Process::WNOHANG)
        raise "#{SOURCE} does not mount #{@path}" unless mounted?
      end

      def hold = FileUtils.touch(@hold)
      def hold_reads = FileUtils.touch("#{@hold}.read")
      def let_go = FileUtils.rm_f([@hold, "#{@hold}.read"])

      # Calls to the kernel that wait for the mount end, too.
      def finish
        let_go
        Process.kill(:KILL, @pid)
        Process.wait(@pid)
        system("umount", "--lazy", @path)
      end

      private

      def compile(program)
        flags = Open3.capture2("pkg-config", "--cflags", "--libs", "fuse3").first.split
        system("cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program, SOURCE, *flags, exception: true)
      end

      def mounted? = File.stat(@path).dev != File.stat(@source).dev
    end
  end
end
