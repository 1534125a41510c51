# frozen_string_literal: true

module Bontebok
  # The cgroups of this process: its own one and that cgroup's parents, as far as they are mounted (cgroups(7), versions
  # 1 and 2). A parent's limit holds, too. Used by Cpus and MemoryLimit.
  class Cgroups
    # A mounted cgroup hierarchy. directory: the mount point. root: the cgroup that is mounted there. group: the cgroup
    # of this process.
    Hierarchy = Struct.new(:directory, :root, :group)
    private_constant :Hierarchy

    # root: a directory with its own proc and sys, for tests.
    def initialize(root: "/")
      @root = root
    end

    # The directories that can have limits of this controller ("cpu", "memory").
    def directories(controller)
      hierarchies(controller).flat_map { |hierarchy| directories_of(hierarchy) }
    end

    # Returns "" if the file cannot be read. Reads bytes, because names of processes and mount points can be invalid
    # UTF-8.
    def read(path)
      File.binread(File.join(@root, path))
    rescue SystemCallError
      ""
    end

    private

    # Lines of mountinfo: id, parent, device, root, mount point, options, any number of fields, "-", type, source,
    # options of the file system.
    def hierarchies(controller)
      read("proc/self/mountinfo").lines.filter_map do |line|
        mount, file_system = line.split(" - ", 2).map(&:split)
        next unless file_system

        group = groups[name(controller, *file_system.values_at(0, 2))] or next
        Hierarchy.new(mount[4], mount[3], group)
      end
    end

    # The name of the hierarchy in /proc/self/cgroup: "" in version 2, the controller's in version 1. nil: the hierarchy
    # does not have the controller.
    def name(controller, type, options)
      case type
      when "cgroup2" then ""
      when "cgroup" then controller if options.to_s.split(",").include?(controller)
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

    # The directories begin at the mount point. In a container, only a part of the hierarchy may be mounted. If the
    # process's cgroup is outside this part, only the mount point is returned.
    def directories_of(hierarchy)
      below = hierarchy.group.delete_prefix(hierarchy.root.delete_suffix("/"))
      below = below.start_with?("/") ? below.split("/").reject(&:empty?) : []
      below = [] if below.include?("..")
      (0..below.size).map { |depth| File.join(hierarchy.directory, *below.first(depth)) }
    end
  end
end
