# frozen_string_literal: true

module Bontebok
  # How many CPUs this process may keep busy: what `auto` workers go by. A container is given a share of the machine in
  # two ways, and the smaller counts: the CPUs it may run on (affinity), and the time it gets on them (the CPU quota of
  # its cgroup and of all that this is part of, cgroups(7), version 1 and 2).
  class Cpus
    # One mounted hierarchy: where it is, which of its groups is seen there, and the group that we are in.
    Hierarchy = Struct.new(:directory, :root, :group)
    private_constant :Hierarchy

    # root: for tests, a directory with a proc and a sys of its own.
    def initialize(root: "/")
      @root = root
    end

    # At least 1. Of a quota only whole CPUs count: workers that share the rest would stop each other for a part of
    # every period.
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

    # Every limit on the way from our group to the root, in CPUs.
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

    # Version 2 has one hierarchy without a name; in version 1 ours is the one of the controller cpu.
    def controller(type, options)
      case type
      when "cgroup2" then ""
      when "cgroup" then "cpu" if options.to_s.split(",").include?("cpu")
      end
    end

    # { controller => group }, of lines "4:cpu,cpuacct:/group" and "0::/group".
    def groups
      @groups ||= read("proc/self/cgroup").lines(chomp: true).each_with_object({}) do |line, groups|
        _, controllers, group = line.split(":", 3)
        names = controllers.to_s.empty? ? [""] : controllers.split(",")
        names.each { |name| groups[name] = group }
      end
    end

    # Our group's directory and its parents'. In a container the mount shows a part of the hierarchy, and the name of
    # our group may begin above it, or be one that is not visible at all: then what is mounted is ours.
    def directories(hierarchy)
      below = hierarchy.group.delete_prefix(hierarchy.root.delete_suffix("/"))
      below = below.start_with?("/") ? below.split("/").reject(&:empty?) : []
      below = [] if below.include?("..")
      (0..below.size).map { |depth| File.join(hierarchy.directory, *below.first(depth)) }
    end

    # nil: no limit here.
    def quota(directory)
      time, period = read("#{directory}/cpu.max").split
      time ||= read("#{directory}/cpu.cfs_quota_us")
      period ||= read("#{directory}/cpu.cfs_period_us")
      time.to_r / period.to_r if time.to_i.positive? && period.to_i.positive?
    end

    # Bytes: names of processes and mount points need not be text.
    def read(path)
      File.binread(File.join(@root, path))
    rescue SystemCallError
      ""
    end
  end
end
