# frozen_string_literal: true

require_relative "machine/cpus"

module Bontebok
  # The effective value of worker_boot_timeout, for Config and SupervisorConfig.
  module BootTime
    # The time for a worker, and for the new generation of a deploy, to become ready, in seconds. 0: no limit. Workers
    # that load the application load it at the same time. If there are more workers than CPUs, the time is longer in
    # proportion.
    def self.of(config)
      shares = config[:preload] ? 1 : [config.workers.fdiv(Cpus.new.count).ceil, 1].max
      config.seconds(:worker_boot_timeout) * shares
    end
  end
end
