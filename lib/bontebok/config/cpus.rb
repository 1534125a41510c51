# frozen_string_literal: true

module Bontebok
  # The number of CPUs that this process may use, for `auto` workers. It is the smaller of two limits of a container:
  # the CPUs that it may run on (affinity), and its time on them (the CPU quota of its cgroup and of all parents of that
  # cgroup; cgroups(7), version 1 and 2).
  class Cpus
    # A mounted hierarchy. directory: the mount point. root: the group that the mount shows. group: the group of this
    # process.
    Hierarchy = Struct.new(:directory, :root, :group)
    private_constant :Hierarchy

    # root: a directory with its own proc and sys, for tests.
    def initialize(root: "/")
      @root = root
    end

    # At least 1. A quota is rounded down: with one worker more, the workers could exceed the quota, and the kernel
    # would stop them for a part of each period.
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

    # The limits of this process's group and of its parents, in CPUs.
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

    # Version 2 has one hierarchy without a name. In version 1 it is the hierarchy of the controller cpu.
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

    # The directories of the group and its parents. In a container the mount shows a part of the hierarchy. The group's
    # name may begin above that part, or not be visible there at all. Then the mounted group is this process's group.
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

    # The files may hold any bytes: names of processes and mount points need not be text.
    def read(path)
      File.binread(File.join(@root, path))
    rescue SystemCallError
      ""
    end
  end
end
