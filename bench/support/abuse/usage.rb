# frozen_string_literal: true

module Bench
  module Abuse
    # Private memory and descriptors of the server's processes, by role. If a role has several processes, each figure is
    # that of the process with the most.
    class Usage
      LIMIT = 60 # seconds for the server to end what nobody uses

      # Waits until one generation is left, and until the descriptors are at most those of `before`, or until LIMIT.
      def self.of(server, before = nil)
        limit = Abuse.now + LIMIT
        loop do
          usage = new(server) if server.settled?
          return usage if usage && (before.nil? || usage.grown_since(before).empty?)
          return usage || abort("more than one generation is left: #{server.members.inspect}") if Abuse.now > limit

          sleep 0.5
        end
      rescue Errno::ENOENT, Errno::ESRCH
        retry
      end

      attr_reader :descriptors

      def initialize(server)
        members = server.members.group_by(&:role).transform_values { |list| list.map(&:pid) }
        @kib = members.transform_values { |pids| pids.map { |pid| private_kib(pid) }.max }
        @descriptors = members.transform_values { |pids| pids.map { |pid| Dir.children("/proc/#{pid}/fd").size }.max }
      end

      # The roles that have more descriptors now.
      def grown_since(before) = descriptors.keys.select { |role| descriptors[role] > before.descriptors[role] }

      def to_s
        roles = descriptors.map do |role, count|
          format("%s %.1f MiB, %d descriptors", role, @kib[role] / 1024.0, count)
        end
        roles.join("; ")
      end

      private

      def private_kib(pid)
        File.read("/proc/#{pid}/smaps_rollup").scan(/^Private_\w+:\s+(\d+)/).sum { |(kib)| kib.to_i }
      end
    end
  end
end
