# frozen_string_literal: true

require_relative "job"

module Runner
  # A group of bin/test: jobs that pass or fail together.
  class Group
    attr_reader :name, :about, :jobs

    # jobs: makes the jobs when they are needed. full: makes the jobs for --full. Without `jobs`, the group runs only
    # with --full, or when it is named. alone: the jobs run one after the other, and nothing runs beside them.
    def initialize(name, about, jobs: nil, full: jobs, alone: false)
      @name = name
      @about = about
      @by_default = jobs
      @at_length = full
      @alone = alone
    end

    def alone? = @alone

    def default? = !@by_default.nil?

    def choose(at_length)
      @jobs = (at_length || !default? ? @at_length : @by_default).call
    end

    # The name of a job's files, without their endings.
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
  end
end
