# frozen_string_literal: true

require_relative "../system/core_build"
require_relative "machine/cpus"

module Bontebok
  # The part of Config with the number of worker processes.
  module WorkerCount
    # The number of worker processes; for `auto`, the largest that is possible. 0: one process that never forks.
    def workers
      return 0 if @one_process

      @workers ||= self[:max_workers] == :auto ? Cpus.new.count : self[:max_workers]
    end

    # True if the supervisor decides how many workers there are (Supervisor::AutoWorkers).
    def auto_workers?
      !@one_process && self[:max_workers] == :auto
    end

    private

    # The file may be for the production server, too. So a number of workers is no error here. The number is kept,
    # because the Config is frozen later.
    def note_workers
      workers
      return if !@one_process || [:auto, 0].include?(self[:max_workers])

      @warnings += ["#{source(:max_workers)}: max_workers #{self[:max_workers]} has no effect: on this system, one " \
                    "process serves"]
    end
  end
end
