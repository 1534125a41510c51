# frozen_string_literal: true

require_relative "stat_line"

module Bontebok
  # The child processes of another process, as /proc shows them.
  module ProcessChildren
    class << self
      # Returns their pids, also of those that have ended and are not reaped. pid: 0 is no process, although the kernel
      # names it as the parent of the first ones.
      def of(pid)
        pid.positive? ? listed(pid) || found(pid) : []
      end

      private

      # nil: a thread has ended meanwhile, or the kernel has no such file (CONFIG_PROC_CHILDREN).
      def listed(pid)
        Dir.children("/proc/#{pid}/task").flat_map do |tid|
          File.read("/proc/#{pid}/task/#{tid}/children").split.map(&:to_i)
        end
      rescue SystemCallError
        nil
      end

      def found(pid)
        Dir.children("/proc").map(&:to_i).select { |one| one.positive? && StatLine.parent_of(one) == pid }
      rescue SystemCallError
        []
      end
    end
  end
end
