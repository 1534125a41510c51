# frozen_string_literal: true

require_relative "job"

module Runner
  # A group of bin/test: jobs that pass or fail together.
  class Group
    attr_reader :name, :about, :jobs

    # jobs: a lambda that makes the jobs. It may take the test files to run; without files it makes all jobs. full: the
    # lambda for --full. A group without `jobs` runs only with --full, or if the command line names it. alone: while a
    # job of this group runs, no other job runs.
    def initialize(name, about, jobs: nil, full: jobs, alone: false)
      @name = name
      @about = about
      @by_default = jobs
      @at_length = full
      @alone = alone
    end

    def alone? = @alone

    def default? = !@by_default.nil?

    # files: the test files to run; nil: all. A group of jobs that are no test files runs whole.
    def choose(at_length, files = nil)
      make = at_length || !default? ? @at_length : @by_default
      @part = !files.nil? && make.arity != 0
      @jobs = @part ? make.call(files) : make.call
    end

    # True if only some test files of the group run.
    def part? = @part

    # The name of a job's output files, without extension.
    def label(job)
      jobs.one? ? name : "#{name}-#{jobs.index(job) + 1}"
    end

    def ended? = jobs.none?(&:running?) && jobs.all?(&:started)

    def passed? = jobs.all?(&:passed?)

    # Seconds from the start of the first job to the end of the last job.
    def seconds
      ran = jobs.select(&:seconds)
      ran.empty? ? 0 : ran.map { |job| job.started + job.seconds }.max - ran.map(&:started).min
    end

    def cpu_seconds = jobs.filter_map(&:cpu_seconds).sum

    # { "forks" => processes that tests in Ruby have forked, "starts" => servers that they have started,
    #   "compiler calls" => calls of compilers, by any program }
    def counts
      { **%w[forks starts].to_h { |key| [key, jobs.flat_map(&:costs).sum { |costs| costs[key] }] },
        "compiler calls" => jobs.sum(&:compiler_calls) }
    end

    # [name, seconds of processors, seconds] of each test in Ruby.
    def tests = jobs.flat_map(&:costs).flat_map { |costs| costs["tests"] }
  end
end
