# frozen_string_literal: true

require "tmpdir"
require_relative "../load"
require_relative "../process_group"
require_relative "commands"

module Bench
  module Psgi
    # A server with its processes, for the scripts that signal them: start_server or nothing, the master, the workers.
    class Fleet
      # The server does not start, or cannot be measured.
      class Failed < StandardError; end

      CORES = "0,1"
      DEADLINE = 20 # seconds
      PREFORKS = [OURS, STARLET, GAZELLE].freeze
      # The states of a process that is stopped, and of one that is ending.
      STOPPED = "T"
      GONE = "ZX"

      attr_reader :address

      # Starts the server, yields a Fleet, and ends the server. transport: "tcp" or "unix". app: a file of
      # bench/apps/psgi; nil: the contestant's.
      def self.open(chosen, contestant, settings, transport:, app: nil)
        Dir.mktmpdir("bontebok-bench") do |dir|
          fleet = new(contestant, settings, Load.address(transport, dir, "server"), dir)
          fleet.start(chosen.env(contestant), app || contestant.app)
          yield fleet
        ensure
          fleet&.finish
        end
      end

      def initialize(contestant, settings, address, dir)
        @contestant = contestant
        @settings = settings
        @address = address
        @dir = dir
        @log = File.join(dir, "log")
      end

      def start(env, app)
        command = @contestant.command_on(@address, @settings, app)
        @starter = command.first == Commands::START_SERVER
        @group = ProcessGroup.new(command, env: { **env, "BENCH_DIR" => @dir, "TMPDIR" => @dir }, address: @address,
                                           core: CORES, log: @log)
        ready = @group.ready? && wait { !forks? || workers.size == @settings.least_workers }
        raise Failed, "it does not start: #{last_lines}" unless ready
      end

      def finish = @group&.finish

      # The process that was started: start_server, or the master.
      def first = @group.pid

      # nil while there is none, between two generations of start_server.
      def master = @starter ? children(first).last : first

      # Pids, the oldest first.
      def workers = children(master)

      # Whether the server has a master whose children are the workers.
      def forks? = PREFORKS.include?(@contestant.name) && !(@settings.workers.zero? && @contestant.single)

      # Stops the process, so that nothing changes while the block looks at it, and kills it.
      def kill_after(pid)
        Process.kill(:STOP, pid)
        wait { "#{STOPPED}#{GONE}".include?(state(pid)) }
        yield
        Process.kill(:KILL, pid)
      rescue Errno::ESRCH
        nil
      end

      # Call this when no worker has a connection, before #connections.
      def note_idle = @idle_sockets = workers.map { |pid| sockets(pid) }.min

      # The number of connections that the worker has.
      def connections(pid) = [sockets(pid) - @idle_sockets, 0].max

      # The files, sockets and so on that the process has open, as links of /proc name them.
      def descriptors(pid)
        Dir.children("/proc/#{pid}/fd").filter_map do |name|
          File.readlink("/proc/#{pid}/fd/#{name}")
        rescue Errno::ENOENT
          nil
        end
      rescue SystemCallError
        []
      end

      # Bytes of memory that the process has written (RssAnon of proc(5)).
      def memory(pid) = Integer(File.read("/proc/#{pid}/status")[/^RssAnon:\s*(\d+)/, 1]) * 1024

      # The number of temporary files, with the server's socket and log.
      def files = Dir.children(@dir).size

      # Whether the application makes this file in BENCH_DIR.
      def note?(name) = wait { File.exist?(File.join(@dir, name)) }

      # False if the block is false for this number of seconds.
      def wait(seconds = DEADLINE)
        limit = now + seconds
        until (result = yield)
          return false if now > limit

          sleep 0.002
        end
        result
      end

      def last_lines = File.read(@log).lines.last(3).join.strip
      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      private

      def sockets(pid) = descriptors(pid).count { |target| target.start_with?("socket:") }

      def children(pid)
        pid ? File.read("/proc/#{pid}/task/#{pid}/children").split.map(&:to_i) : []
      rescue SystemCallError
        []
      end

      def state(pid)
        File.read("/proc/#{pid}/stat").sub(/\A.*\) /, "")[0]
      rescue SystemCallError
        GONE[0]
      end
    end
  end
end
