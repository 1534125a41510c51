# frozen_string_literal: true

require_relative "cgroups"

module Bontebok
  # The memory that this process and its relatives may use: the smallest of the machine's memory and the limits of the
  # process's cgroups. Swap does not count, because a server that swaps is too slow.
  #
  #   bytes    the limit; nil: no limit can be read
  #   owner    whose limit it is: "the cgroup" or "the machine"
  MemoryLimit = Struct.new(:bytes, :owner) do
    # root: a directory with its own proc and sys, for tests.
    def self.read(root: "/")
      cgroups = Cgroups.new(root: root)
      kilobytes = cgroups.read("proc/meminfo")[/^MemTotal:\s*(\d+) kB$/, 1]
      machine = new(kilobytes.to_i << 10, "the machine") if kilobytes
      group = cgroups.directories("memory").flat_map { |directory| of_group(cgroups, directory) }.min
      [machine, (new(group, "the cgroup") if group)].compact.min_by(&:bytes) || new
    end

    # A cgroup of version 2 can have a hard limit and a limit above which the kernel slows it down. "max": no limit. In
    # version 1, a number above the machine's memory means no limit.
    def self.of_group(cgroups, directory)
      %w[memory.max memory.high memory.limit_in_bytes].filter_map do |file|
        cgroups.read("#{directory}/#{file}").to_i.then { |bytes| bytes if bytes.positive? }
      end
    end
    private_class_method :of_group
  end
end
