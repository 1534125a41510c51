# frozen_string_literal: true

module Bench
  module Releases
    # A signal to one process of a server: KILL, or STOP and later CONT. The process is chosen at random: first the kind
    # of process, then one of this kind.
    class Strike
      SIGNALS = %w[KILL STOP].freeze
      # The longest time for which a process is stopped, in seconds.
      FROZEN = 1.0
      # Columns of /proc/net/tcp.
      REMOTE = 2
      INODE = 9

      attr_reader :kind, :signal

      # before, family: the Family before the operation, and now.
      def initialize(before, family, random)
        @signal = SIGNALS.sample(random: random)
        @frozen = random.rand(FROZEN)
        @kind, pids = kinds(before, family).reject { |_, some| some.empty? }.to_a.sample(random: random)
        @pid = pids.sample(random: random)
        @ports = []
      end

      def supervisor_killed? = @kind == "supervisor" && @signal == "KILL"

      # Yields if the supervisor is killed. Then the block starts the next server.
      def run
        @began = now
        @signal == "KILL" ? kill : freeze_for(@frozen)
        yield if supervisor_killed?
      rescue Errno::ESRCH
        nil # the process has ended
      ensure
        @ended = now
      end

      # True if the killed process had the connection of the request.
      def held?(answer) = @ports.include?(answer.port) && during?(answer)

      # True if the request needed a server while there was none.
      def down?(answer) = supervisor_killed? && during?(answer)

      private

      def during?(answer) = answer.began <= @ended && answer.ended >= @began

      # Stops the process first, so that it has the same connections when it is killed. Clients can use these until the
      # process has ended.
      def kill
        Process.kill(:STOP, @pid)
        wait_for(/[TZX]/)
        @ports = clients
        Process.kill(:KILL, @pid)
        wait_for(/[ZX]/)
      end

      # Waits until all threads are in one of these states (proc(5)), or have gone.
      def wait_for(states)
        limit = now + FROZEN
        sleep 0.001 until now > limit || states_of_threads.all?(states)
      end

      def states_of_threads
        Dir["/proc/#{@pid}/task/*/stat"].map { |name| File.read(name)[/\) (\w) /, 1] }
      rescue SystemCallError # a thread has gone
        states_of_threads
      end

      def freeze_for(seconds)
        Process.kill(:STOP, @pid)
        sleep(seconds)
        Process.kill(:CONT, @pid)
      end

      def kinds(before, family)
        { "supervisor" => [family.supervisor], "master" => family.masters.keys & [before.master],
          "kept master" => family.masters.keys & before.kept, "new master" => family.masters.keys - before.pids,
          "worker" => family.workers & before.workers, "new worker" => family.workers - before.workers,
          "adopted worker" => family.adopted }
      end

      def clients
        sockets = Dir["/proc/#{@pid}/fd/*"].filter_map do |name|
          File.readlink(name)[/\Asocket:\[(\d+)\]/, 1]
        rescue SystemCallError
          nil
        end
        File.readlines("/proc/net/tcp").drop(1).map(&:split)
            .select { |columns| sockets.include?(columns[INODE]) }.map { |columns| columns[REMOTE][/\h+\z/].hex }
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
