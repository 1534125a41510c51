# frozen_string_literal: true

module Bontebok
  # Computes the value of MaxWorkers auto: the number of CPUs that this process is allowed to use. This number is the
  # smallest of these limits: the number of CPUs in the process's affinity mask, and the CPU quotas of the process's
  # cgroup and of that cgroup's parents (cgroups(7), versions 1 and 2).
  class Cpus
    # A mounted cgroup hierarchy. directory: the mount point. root: the cgroup that is mounted there. group: the cgroup
    # of this process.
    Hierarchy = Struct.new(:directory, :root, :group)
    private_constant :Hierarchy

    # root: a directory with its own proc and sys, for tests.
    def initialize(root: "/")
      @root = root
    end

    # At least 1. A quota is rounded down. If it were rounded up, busy workers would exceed the quota, and the kernel
    # would throttle all of them.
    def count
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

    # The quotas of the process's cgroup and of its parents, in CPUs.
    def quotas
      hierarchies.flat_map { |hierarchy| directories(hierarchy).filter_map { |directory| quota(directory) } }
    end

    # Lines of mountinfo: id, parent, device, root, mount point, options, any number of fields, "-", type, source,
    # options of the file system.
    def hierarchies
      read("proc/self/mountinfo").lines.filter_map do |line|
        mount, file_system = line.split(" - ", 2).map(&:split)
        next unless file_system

        group = groups[controller(*file_system.values_at(0, 2))] or next
        Hierarchy.new(mount[4], mount[3], group)
      end
    end

    # The name of a hierarchy with CPU quotas: "" in version 2, "cpu" in version 1. nil: the hierarchy has no CPU
    # quotas.
    def controller(type, options)
      case type
      when "cgroup2" then ""
      when "cgroup" then "cpu" if options.to_s.split(",").include?("cpu")
      end
    end

    # { controller => group }, from lines like "4:cpu,cpuacct:/group" and "0::/group".
    def groups
      @groups ||= read("proc/self/cgroup").lines(chomp: true).each_with_object({}) do |line, groups|
        _, controllers, group = line.split(":", 3)
        names = controllers.to_s.empty? ? [""] : controllers.split(",")
        names.each { |name| groups[name] = group }
      end
    end

    # The directories of the process's cgroup and of its parents, from the mount point on. In a container, only a part
    # of the hierarchy may be mounted. If the process's cgroup is outside this part, only the mount point is returned.
    def directories(hierarchy)
      below = hierarchy.group.delete_prefix(hierarchy.root.delete_suffix("/"))
      below = below.start_with?("/") ? below.split("/").reject(&:empty?) : []
      below = [] if below.include?("..")
      (0..below.size).map { |depth| File.join(hierarchy.directory, *below.first(depth)) }
    end

    # Returns nil if there is no limit.
    def quota(directory)
      time, period = read("#{directory}/cpu.max").split
      time ||= read("#{directory}/cpu.cfs_quota_us")
      period ||= read("#{directory}/cpu.cfs_period_us")
      time.to_r / period.to_r if time.to_i.positive? && period.to_i.positive?
    end

    # Returns "" if the file cannot be read. Reads bytes, because names of processes and mount points can be invalid
    # UTF-8.
    def read(path)
      File.binread(File.join(@root, path))
    rescue SystemCallError
      ""
    end
  end
end
