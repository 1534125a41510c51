# frozen_string_literal: true

require_relative "machine/cpus"

module Bontebok
  # The part of Config and SupervisorConfig with the effective value of worker_boot_timeout.
  module BootTime
    # The time for a worker, and for the new generation of a deploy, to become ready, in seconds. 0: no limit. Workers
    # that load the application load it at the same time. If there are more workers than CPUs, the time is longer in
    # proportion.
    def boot_seconds
      shares = self[:preload] ? 1 : [workers.fdiv(Cpus.new.count).ceil, 1].max
      seconds(:worker_boot_timeout) * shares
    end
  end
end
