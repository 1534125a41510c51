# frozen_string_literal: true

module Bontebok
  # The memory of a process as the kernel counts it, in bytes. Used by Recycling, Worker and AutoWorkers.
  #
  #   own       memory that this process shares with no other process. If the application was loaded before the fork,
  #             this is the memory that has changed since the fork
  #   share     own, and this process's part of the memory that it shares (PSS). The shares of all processes add up to
  #             the memory that the processes need
  ProcessMemory = Struct.new(:own, :share) do
    # Returns nil if there is no such file (Linux before 4.14). The kernel walks through the page table. With gigabytes
    # of memory, this takes milliseconds, and other threads continue during this time.
    def self.read(path = "/proc/self/smaps_rollup")
      counts = File.read(path).scan(/^(\w+): +(\d+) kB$/).to_h { |name, count| [name, count.to_i << 10] }
      new(counts.values_at("Private_Clean", "Private_Dirty").sum, counts.fetch("Pss"))
    rescue SystemCallError, KeyError, TypeError
      nil
    end

    # Bytes that the process has in memory, shared or not (RSS); nil: /proc does not show the process. Every user may
    # read this number of every process.
    def self.resident(pid)
      File.read("/proc/#{pid}/status")[/^VmRSS:\s*(\d+) kB$/, 1]&.then { |kilobytes| kilobytes.to_i << 10 }
    rescue SystemCallError
      nil
    end

    def to_s
      "memory #{own >> 20} MB, PSS #{share >> 20} MB"
    end
  end
end
