# frozen_string_literal: true

require "etc"
require "json"
require "rbconfig"
require_relative "../costs"
require_relative "compilers"

module Runner
  # One command of a group. Its output goes to a file, so that bin/test can print the output in one piece.
  class Job
    # A shell script. It runs the command, and writes the processor time of the command and of its reaped children to
    # the file $1.
    TIMES = 'times=$1; shift; "$@"; status=$?; times >"$times"; exit $status'
    # Lines of a failed command's output that bin/test repeats at the end of the run.
    LAST_LINES = 40
    LOADED = "require File.expand_path(ARGV.shift) until ARGV.empty?"

    class << self
      # Returns a job that runs make with all processors. The output of each target stays together.
      def make(directory, *arguments, **options)
        new("make", "-s", "-k", "-Otarget", "-j#{Etc.nprocessors}", "-C", directory, *arguments, **options)
      end

      # Returns a job that runs the test files in one process.
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
    # path: the path of the job's files, without .log, .times, .costs and .compilers.
    def start(path)
      @path = path
      @started = now
      costs = File.expand_path("#{@path}.costs")
      env = { Support::Costs::FILE => costs, **Compilers.env("#{@path}.compilers"), **@env }
      @pid = Process.spawn(env, "setsid", "bash", "-c", TIMES, "bash", "#{@path}.times", *@command,
                           in: File::NULL, %i[out err] => "#{@path}.log")
    end

    def running? = !@pid.nil? && @status.nil?

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

    # Returns an Array with a Hash for each test process in Ruby: the counts of Support::Costs.
    def costs
      path = "#{@path}.costs"
      File.exist?(path) ? File.readlines(path).map { |line| JSON.parse(line) } : []
    end

    def compiler_calls = Compilers.calls("#{@path}.compilers")

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
