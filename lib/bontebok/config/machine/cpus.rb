# frozen_string_literal: true

require_relative "cgroups"

module Bontebok
  # The number of CPUs that this process is allowed to use: the smallest of the number of CPUs in the process's affinity
  # mask, and the CPU quotas of the process's cgroups. max_workers auto starts at most this number of workers.
  class Cpus
    # root: a directory with its own proc and sys, for tests.
    def initialize(root: "/")
      @cgroups = Cgroups.new(root: root)
    end

    # At least 1. A quota is rounded down. If it were rounded up, busy workers would exceed the quota, and the kernel
    # would throttle all of them.
    def count
      quotas = @cgroups.directories("cpu").filter_map { |directory| quota(directory) }
      [[affinity, *quotas].compact.min.floor, 1].max
    end

    private

    # "Cpus_allowed_list: 0-3,8" (proc(5)).
    def affinity
      list = read("proc/self/status")[/^Cpus_allowed_list:\s*([\d,-]+)/, 1] or return 1
      list.split(",").sum do |range|
        first, last = range.split("-").map(&:to_i)
        last ? last - first + 1 : 1
      end
    end

    # A quota in CPUs; nil: there is no limit.
    def quota(directory)
      time, period = read("#{directory}/cpu.max").split
      time ||= read("#{directory}/cpu.cfs_quota_us")
      period ||= read("#{directory}/cpu.cfs_period_us")
      time.to_r / period.to_r if time.to_i.positive? && period.to_i.positive?
    end

    def read(path) = @cgroups.read(path)
  end
end
