# frozen_string_literal: true

require "rbconfig"
require_relative "../contestants"
require_relative "../load"
require_relative "../median"
require_relative "../price/callgrind"
require_relative "../process_group"
require_relative "commands"
require_relative "tree"

module Bench
  module Files
    # What the option for files costs a request that is for no file: hello world with one worker over a unix socket, and
    # 100,000 different paths, without and with the option. The directory that a path names does not exist, or (beside)
    # it has files.
    #
    # - CPU microseconds per request, in alternating rounds, with 16 kept-alive connections and with new ones.
    # - System calls per request, by name, of all processes (needs perf and root).
    # - User-mode instructions per request (needs valgrind), as in support/price/ruby_workers.rb. Single runs
    #   differ by 1 %.
    class Hello
      WITHOUT = "without"
      CONNECTIONS = 16
      MODES = { "kept" => [], "new" => ["--close"] }.freeze
      CALLS = "syscalls:sys_enter_"
      FEW = 0.001 # calls per request that no line shows
      DEADLINE = 120 # seconds for a start under callgrind
      LOOP = "bbr_serve" # of the binding, for callgrind
      LIMIT = 100 # seconds after which no round under callgrind begins
      COUNTED = 12_000 # requests under callgrind
      HELLO_GC = File.join(Contestants::APPS, "hello_gc.ru")

      # options: of the server. paths: options of the load tool.
      Variant = Struct.new(:options, :paths)

      # tree: a Tree. dir: for sockets and logs. cores: CPU numbers of the servers.
      def initialize(tree, dir, cores, rounds:)
        option = Commands::PUBLIC.call(tree.root)
        pages, beside = [Tree::PAGES, Tree::BESIDE].map { |paths| ["--paths", tree.list(paths)] }
        @variants = { WITHOUT => Variant.new([], pages), option.first => Variant.new(option, pages),
                      "#{option.first}, beside" => Variant.new(option, beside) }
        @dir = dir
        @core = cores.first
        @rounds = rounds
        @runs = 0
      end

      def run
        puts "", "hello world, #{Tree::PAGES.size} different paths of no file, unix socket, 1 worker; per request"
        @variants.select! { |name, variant| serve(variant) { true } || warn_about(name) }
        report("CPU microseconds, #{MODES.keys.join(' and ')} connections", cpu, "%.2f")
        report_calls
        report("user-mode instructions, one kept connection", instructions, "%.0f")
      end

      private

      def warn_about(name)
        puts "left out: #{name}: this Bontebok has no such option"
        nil
      end

      def report(title, figures, form)
        puts "", title
        figures.each do |name, numbers|
          puts format("%-18s %s", name, Array(numbers || "-").map { |each| number(each, form) }.join)
        end
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      def number(value, form) = (value.is_a?(Numeric) ? format(form, value) : value).rjust(12)

      # { name => a median for each of MODES }
      def cpu
        rounds = Hash.new { |hash, key| hash[key] = [] }
        with_all do |servers|
          @rounds.times do
            servers.each { |name, server| rounds[name] << MODES.values.map { |mode| cpu_of(name, *server, mode) } }
          end
        end
        rounds.transform_values { |all| all.transpose.map { |numbers| Bench.median(numbers) } }
      end

      def cpu_of(name, group, address, mode)
        group.resume
        before = group.cpu_ns
        load(name, address, *mode)
        (group.cpu_ns - before) / 1000.0 / Tree::PAGES.size
      ensure
        group.pause
      end

      def report_calls
        found = @variants.to_h { |name, variant| [name, serve(variant) { |*server| calls(name, *server) }] }
        puts "", "system calls, kept connections"
        return puts("- (perf cannot count them here)") unless found.values.all?

        found.each do |name, calls|
          often = calls.select { |_, count| count > FEW }.map { |call, count| format("%s %.3f", call, count) }
          puts format("%-18s %12.3f: %s", name, calls.values.sum, often.join(", "))
        end
      end

      # { name => calls per request }, the most frequent first; nil: perf cannot count them.
      def calls(name, group, address)
        file = File.join(@dir, "perf")
        perf = ["perf", "stat", "-x,", "-e", "#{CALLS}*", "-o", file, "-p", group.pids.join(","), "--"]
        load(name, address, wrap: perf)
        counts = File.read(file).scan(/^(\d+),.*#{CALLS}(\w+)/o).to_h { |count, call| [call, count.to_i] }
        counts.select { |_, count| count.positive? }.sort_by { |_, count| -count }
              .to_h { |call, count| [call, count.fdiv(Tree::PAGES.size)] }
      rescue SystemCallError, JSON::ParserError
        nil
      end

      # { name => a median of kept connections, or nil }. They need no difference of two counts, because the start is
      # not below LOOP.
      def instructions
        limit = now + LIMIT
        rounds = []
        until rounds.size == @rounds || (rounds.any? && now > limit)
          rounds << @variants.transform_values { |variant| instructions_of(variant) }
        end
        @variants.keys.to_h { |name| [name, Bench.median(rounds.filter_map { |round| round[name] })] }
      end

      # nil: valgrind cannot run the server.
      def instructions_of(variant)
        command = [*Callgrind::COMMAND, "--toggle-collect=#{LOOP}", RbConfig.ruby, "-rbundler/setup",
                   *arguments(0, variant), HELLO_GC]
        log = start(command) { |_group, address| Load.run(address, "-c", 1, "-n", COUNTED, *variant.paths) }
        log[/Collected : (\d+)/, 1]&.to_f&./(COUNTED)
      end

      def load(name, address, *options, wrap: [])
        paths = @variants.fetch(name).paths
        Load.run(address, "-c", CONNECTIONS, "-n", Tree::PAGES.size, *paths, *options, wrap: wrap)
      end

      # Starts a server for each of @variants, and yields { name => [ProcessGroup, address] }.
      def with_all(started = {}, &block)
        name = (@variants.keys - started.keys).first || (return yield started)
        serve(@variants[name]) do |group, address|
          group.pause
          with_all({ **started, name => [group, address] }, &block)
        end
      end

      # Returns the result of the block; nil: the server does not start.
      def serve(variant, &block)
        result = nil
        start(["bundle", "exec", *arguments(1, variant), Contestants::HELLO]) { |*server| result = block.call(*server) }
        result
      end

      # Returns the server's log.
      def start(command)
        address = Load.address("unix", @dir, "hello#{@runs += 1}")
        log = "#{address}.log"
        group = ProcessGroup.new([*command[..-2], "-l", Contestants.listen(address), command.last],
                                 env: Build.gems_of(File.join(Build::ROOT, "Gemfile")), address: address, core: @core,
                                 log: log)
        yield group, address if group.ready?(DEADLINE)
        group.finish(DEADLINE)
        File.read(log)
      ensure
        group&.finish
      end

      def arguments(workers, variant)
        [File.join(Build::ROOT, "exe/bontebok"), "-w", workers.to_s, "-t", "1", "-E", "production", *variant.options]
      end
    end
  end
end
