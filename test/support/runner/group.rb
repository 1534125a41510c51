# frozen_string_literal: true

require_relative "job"

module Runner
  # What bin/test knows by one name: jobs that pass or fail together.
  class Group
    attr_reader :name, :about, :jobs

    # jobs: made when they are needed. full: those that run instead with --full. Without jobs the group runs only with
    # --full, or when it is named. alone: one job after the other, with nothing beside them.
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

    # What a job's files are called.
    def label(job)
      jobs.one? ? name : "#{name}-#{jobs.index(job) + 1}"
    end

    def ended? = jobs.none?(&:running?) && jobs.all?(&:started)

    def passed? = jobs.all?(&:passed?)

    # From the start of the first one to the end of the last one.
    def seconds
      ran = jobs.select(&:seconds)
      ran.empty? ? 0 : ran.map { |job| job.started + job.seconds }.max - ran.map(&:started).min
    end

    def cpu_seconds = jobs.filter_map(&:cpu_seconds).sum
  end
end
