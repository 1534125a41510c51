# frozen_string_literal: true

module Bench
  module Growth
    SETTLING = 0.3 # seconds

    # What the processes of a server use. memory: bytes that the master has written. master, worker: descriptors of the
    # master, and of the worker with most. children: of the master, also those that have ended and are not waited for.
    # files: in the directory of temporary files.
    Usage = Struct.new(:memory, :master, :worker, :children, :files, keyword_init: true) do
      # Waits until the server has its number of workers, and nothing changes.
      def self.of(fleet, workers)
        before = nil
        fleet.wait do
          sleep(SETTLING)
          fleet.workers.size == workers && before == (before = now(fleet))
        end
        before
      end

      def self.now(fleet)
        new(memory: fleet.memory(fleet.master), master: fleet.descriptors(fleet.master).size,
            worker: fleet.workers.map { |pid| fleet.descriptors(pid).size }.max, children: fleet.workers.size,
            files: fleet.files)
      end
    end
  end
end
