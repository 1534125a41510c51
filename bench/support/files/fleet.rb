# frozen_string_literal: true

require_relative "../../../lib/bontebok/system/process_memory"
require_relative "../figures"
require_relative "../load"
require_relative "../process_group"
require_relative "commands"
require_relative "probe"

module Bench
  module Files
    # The running servers of bench/files over one transport. Each is frozen (SIGSTOP) except while it is measured.
    class Fleet
      BOOT_SECONDS = 30
      END_SECONDS = 5
      LOAD_TIMEOUT = 60
      # fields: of a conditional request, { name => value }.
      Member = Struct.new(:group, :address, :fields)

      # Starts the servers, yields a Fleet, and ends the servers. cores: CPU numbers of the servers.
      def self.open(servers, transport, dir, tree, cores)
        fleet = new(dir, tree, cores)
        servers.each { |server| fleet.start(server, transport) }
        yield fleet
      ensure
        fleet&.finish
      end

      def initialize(dir, tree, cores)
        @dir = dir
        @tree = tree
        @cores = cores
        @members = {}
      end

      def names = @members.keys

      # Prints one line about a server that does not start.
      def start(server, transport)
        place = place(server, transport)
        contestant = server.command(place)
        log = File.join(place.dir, "log")
        group = ProcessGroup.new(contestant.command, env: contestant.env, address: place.address,
                                                     core: @cores.join(","), log: log)
        @members[server.name] = Member.new(group, place.address)
        return group.pause if group.ready?(BOOT_SECONDS) && answers?(place.address)

        puts "left out: #{server.name} does not start over #{transport}: #{reason(log)}"
        @members.delete(server.name)
        group.finish
      end

      # The fields of the response with the first file, of each server.
      def fields
        @members.keys.to_h do |name|
          running(name) { |member| [name, Probe.get(member.address, Tree::SIZES.keys.first).to_hash.keys] }
        end
      end

      # Why the server cannot do the work, or nil. If it can, it does it once, so that its caches are full.
      def prepare(name, cell)
        running(name) do |member|
          fault = Probe.fault(member.address, cell.work, @tree) and return fault

          member.fields = Probe.condition(Probe.get(member.address, cell.work.paths.first))
          load(member, cell, ["-n", cell.work.warm])
          nil
        end
      end

      # A Figures::Run. If the server has replaced a process, its CPU time is not known, which counts as an error.
      def measure(name, cell, seconds)
        running(name) do |member|
          pids = member.group.pids
          before = member.group.cpu_ns
          result = load(member, cell, cell.work.limit || ["-d", seconds])
          cpu_us = (member.group.cpu_ns - before) / 1000.0 / [result.requests, 1].max
          faults = [result.failed.positive?, result.requests.zero?, member.group.pids != pids]
          Figures::Run.new(cpu_us: cpu_us, load_us: result.cpu_us, rate: result.rate, errors: faults.count(true))
        end
      end

      # { name => [number of processes, sum of their PSS in bytes] }
      def memory
        @members.transform_values do |member|
          pids = member.group.pids
          [pids.size, pids.sum { |pid| Bontebok::ProcessMemory.read("/proc/#{pid}/smaps_rollup").share }]
        end
      end

      def finish
        @members.each_value { |member| member.group.finish(END_SECONDS) }
      end

      private

      def place(server, transport)
        dir = File.join(@dir, "#{transport}-#{server.name.tr(' ', '-')}").tap { |path| Dir.mkdir(path) }
        Commands::Place.new(address: Load.address(transport, dir, "s"), root: @tree.root, dir: dir,
                            workers: @cores.size)
      end

      # Thruster listens before Puma does.
      def answers?(address)
        limit = now + BOOT_SECONDS
        until now > limit
          return true if responds?(address)

          sleep 0.05
        end
        false
      end

      def responds?(address)
        Probe.get(address, Tree::SIZES.keys.first).code == "200"
      rescue *Probe::FAILURES
        false
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      def reason(log) = File.readlines(log, chomp: true).grep_v("").last(2).join(" ")[0, 200]

      def running(name)
        member = @members.fetch(name)
        member.group.resume
        yield member
      ensure
        member&.group&.pause
      end

      def load(member, cell, limit)
        work = cell.work
        rotation = work.paths.size > 1 ? ["--paths", @tree.list(work.paths)] : []
        fields = work.is_conditional ? member.fields.map { |name, value| "#{name}: #{value}" } : []
        Load.run(member.address, *limit, "-c", work.connections, "--timeout", LOAD_TIMEOUT, *cell.closing, *rotation,
                 fields: fields, path: work.paths.first)
      end
    end
  end
end
