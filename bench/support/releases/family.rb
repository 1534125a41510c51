# frozen_string_literal: true

module Bench
  module Releases
    # The processes of a server at one moment. masters: { pid => pids of its workers }. adopted: workers whose master
    # has died.
    Family = Struct.new(:supervisor, :masters, :adopted) do
      # pids: of all processes of the server.
      def self.of(supervisor, pids)
        parents = pids.to_h { |pid| [pid, parent(pid)] }
        workers, masters = parents.select { |_, parent| parent == supervisor }.keys.partition { |pid| worker?(pid) }
        new(supervisor, masters.to_h { |pid| [pid, parents.select { |_, parent| parent == pid }.keys] }, workers)
      end

      def self.parent(pid)
        File.read("/proc/#{pid}/stat").sub(/\A.*\) /m, "").split[1].to_i
      rescue SystemCallError
        nil
      end

      def self.worker?(pid)
        File.read("/proc/#{pid}/cmdline").start_with?("bontebok worker")
      rescue SystemCallError
        false
      end

      # The master that serves; nil: none, or more than one.
      def master = masters.select { |_, workers| workers.any? }.keys.then { |pids| pids.first if pids.one? }

      # The masters that stay loaded, and have no workers.
      def kept = masters.select { |_, workers| workers.empty? }.keys

      def workers = masters.values.flatten

      # True if one of this number of masters serves, with all workers.
      def whole?(workers, masters)
        adopted.empty? && !master.nil? && self.workers.size == workers && self.masters.size == masters
      end

      def pids = [supervisor, *masters.keys, *workers, *adopted]
    end
  end
end
