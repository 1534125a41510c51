# frozen_string_literal: true

require "etc"
require_relative "job"

module Runner
  # Runs the jobs of groups, in the order of the groups. Jobs run at the same time if the sum of their `cores` is at
  # most the number of processors. The jobs of groups with `alone` run last, one after the other.
  class Schedule
    # Seconds between two checks for jobs that have ended.
    LOOK = 0.05
    # Seconds that a job may take to end after a signal.
    TIMEOUT = 10

    # directory: where the jobs' output goes. on_end: called with a group when its last job has ended.
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

    # Sends INT to the jobs that still run. After `timeout` seconds, kills the jobs that have not ended.
    def stop(timeout = TIMEOUT)
      { "INT" => timeout, "KILL" => TIMEOUT }.each do |signal, seconds|
        @running.each_key { |job| job.signal(signal) }
        limit = now + seconds
        sleep(LOOK) until reap.empty? || now > limit
      end
    end

    private

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

    # A job that needs more processors than the machine has runs alone.
    def room_for?(job)
      @running.empty? || @running.keys.sum(&:cores) + job.cores <= Etc.nprocessors
    end

    def start(job, group)
      job.start(File.join(@directory, group.label(job)))
      @running[job] = group
    end

    def reap
      groups = @running.select { |job, _group| job.ended? }.each_key { |job| @running.delete(job) }.values
      groups.uniq.each { |group| @on_end.call(group) if group.ended? }
      @running
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
