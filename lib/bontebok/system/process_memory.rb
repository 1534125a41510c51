# frozen_string_literal: true

module Bontebok
  # The memory of this process as the kernel counts it, in bytes. For Recycling and WorkerLife.
  #
  #   own       memory that the process shares with no other process: it would be free if this process ended. If the
  #             application was loaded before the fork, this is the memory that has changed since
  #   share     own, and the process's part of the memory that it shares (PSS): the shares of all processes add up to
  #             the memory that they need
  ProcessMemory = Struct.new(:own, :share) do
    # Returns nil if the system does not show it; Linux does from 4.14 on. The kernel walks through the page table: with
    # gigabytes of memory that takes milliseconds, in which other threads go on.
    def self.read(path = "/proc/self/smaps_rollup")
      counts = File.read(path).scan(/^(\w+): +(\d+) kB$/).to_h { |name, count| [name, count.to_i << 10] }
      new(counts.values_at("Private_Clean", "Private_Dirty").sum, counts.fetch("Pss"))
    rescue SystemCallError, KeyError, TypeError
      nil
    end

    def to_s
      "memory #{own >> 20} MB, PSS #{share >> 20} MB"
    end
  end
end
