# frozen_string_literal: true

module Bontebok
  # The memory of this process as the kernel counts it, in bytes.
  #
  #   own       what it shares with nobody, and would be free if it ended: of an application that was loaded before
  #             the fork, what has changed since
  #   share     that, and its part of what it shares (PSS): the shares of all processes add up to what they need
  ProcessMemory = Struct.new(:own, :share) do
    # nil where the system does not tell: Linux does from 4.14 on. It walks through the page table: with gigabytes of
    # memory that takes milliseconds, for which other threads go on.
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
