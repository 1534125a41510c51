# frozen_string_literal: true

require "etc"
require "rbconfig"

module Runner
  # One command of a group. Its output goes to a file, so that it can be printed whole.
  class Job
    # Writes the processor time of the command, and of all processes that it has reaped, to the file $1.
    TIMES = 'times=$1; shift; "$@"; status=$?; times >"$times"; exit $status'
    # How many lines of a failed command's output are repeated at the end of the run.
    LAST_LINES = 40
    LOADED = "require File.expand_path(ARGV.shift) until ARGV.empty?"

    class << self
      # A make target. Its parts run side by side, and the output of each part stays together.
      def make(directory, *arguments, **options)
        new("make", "-s", "-k", "-Otarget", "-j#{Etc.nprocessors}", "-C", directory, *arguments, **options)
      end

      # Test files, in one process.
      def ruby(files, **options)
        new(RbConfig.ruby, "-rbundler/setup", "-Itest", "-e", LOADED, *files, **options)
      end
    end

    # cores: how many processors the command keeps busy.
    attr_reader :command, :cores, :pid, :started, :seconds

    def initialize(*command, cores: 1, env: {})
      @command = command
      @cores = cores
      @env = env
    end

    # Starts the command in a session of its own. The session identifies the processes that the command leaves behind.
    # path: the name of its files, without their endings.
    def start(path)
      @path = path
      @started = now
      @pid = Process.spawn(@env, "setsid", "bash", "-c", TIMES, "bash", "#{@path}.times", *@command,
                           in: File::NULL, %i[out err] => "#{@path}.log")
    end

    def running? = !@pid.nil? && @status.nil?

    # Returns true if the command has ended.
    def ended?
      _, @status = Process.wait2(@pid, Process::WNOHANG)
      @seconds = now - @started if @status
      !@status.nil?
    end

    def passed? = @status&.success?

    def output = File.binread("#{@path}.log")

    # The part of the output that says why the job failed: Minitest's list of failures, or the last lines.
    def failures
      output.scrub[/^ +1\) (?:Failure|Error):.*/m] || output.lines.last(LAST_LINES).join
    end

    # Seconds of processor time; nil if the command was killed.
    def cpu_seconds
      minutes = File.read("#{@path}.times").scan(/(\d+)m([\d.]+)s/) if File.exist?("#{@path}.times")
      minutes&.sum { |minute, second| (minute.to_i * 60) + second.to_f }
    end

    # Sends a signal to all processes that the job has started, except those that have left its process group.
    def signal(name)
      Process.kill(name, -@pid)
    rescue Errno::ESRCH
      nil
    end

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
