# frozen_string_literal: true

require "etc"
require_relative "job"

module Runner
  # Runs the jobs of groups, in the order of the groups. As many jobs run side by side as the processors have room for.
  # Then the jobs of groups that run alone run one after the other.
  class Schedule
    # Seconds between two looks at the jobs.
    LOOK = 0.05
    # Seconds that a job has to end when it is told to.
    PATIENCE = 10

    # directory: for the jobs' output. on_end: called with each group when the last of its jobs has ended.
    def initialize(groups, directory, &on_end)
      @groups = groups
      @directory = directory
      @on_end = on_end
      @running = {} # job => its group
    end

    def run
      alone, others = @groups.partition(&:alone?)
      run_all(jobs_of(others))
      jobs_of(alone).each { |job| run_all([job]) }
    end

    # Ends the jobs that still run, and kills the jobs that do not end in time.
    def stop(patience = PATIENCE)
      { "INT" => patience, "KILL" => PATIENCE }.each do |signal, seconds|
        @running.each_key { |job| job.signal(signal) }
        limit = now + seconds
        sleep(LOOK) until reap.empty? || now > limit
      end
    end

    private

    # Returns pairs of a job and its group.
    def jobs_of(groups)
      groups.flat_map { |group| group.jobs.map { |job| [job, group] } }
    end

    def run_all(waiting)
      until waiting.empty? && @running.empty?
        start(*waiting.shift) while waiting.any? && room_for?(waiting.first.first)
        sleep(LOOK)
        reap
      end
    end

    # A job that needs more processors than there are runs alone.
    def room_for?(job)
      @running.empty? || @running.keys.sum(&:cores) + job.cores <= Etc.nprocessors
    end

    def start(job, group)
      job.start(File.join(@directory, group.label(job)))
      @running[job] = group
    end

    # Returns the jobs that still run.
    def reap
      groups = @running.select { |job, _group| job.ended? }.each_key { |job| @running.delete(job) }.values
      groups.uniq.each { |group| @on_end.call(group) if group.ended? }
      @running
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
