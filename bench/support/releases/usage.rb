# frozen_string_literal: true

module Bench
  module Releases
    # The descriptors and the memory of a server's processes: { kind => [descriptors, KB of private memory] }. A kind
    # with several processes has the figures of the one with most descriptors.
    module Usage
      KINDS = ["supervisor", "master", "kept master", "worker"].freeze

      module_function

      # family: of a server at rest.
      def of(family)
        pids = [[family.supervisor], [family.master], family.kept, family.workers]
        KINDS.zip(pids).to_h { |kind, some| [kind, some.map { |pid| [descriptors(pid), memory(pid)] }.max || [0, 0]] }
      end

      def descriptors(pid) = Dir.children("/proc/#{pid}/fd").size

      def memory(pid) = File.read("/proc/#{pid}/smaps_rollup").scan(/^Private_\w+:\s+(\d+)/).sum { |(kb)| Integer(kb) }
    end
  end
end
