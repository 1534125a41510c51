# frozen_string_literal: true

require "coverage"

# bench/paths loads this file first into every process of a server, and into commands. It counts the calls of each
# method. URG begins an operation, and WINCH ends it: neither ends a process that has no handler yet. Calls
# between a first and a second URG are those of an idle process, and do not count. At the end, and when a process
# ends or executes another program, the files whose methods were called are written to the directory.
module BenchPaths
  DIRECTORY = ENV.fetch("BENCH_PATHS")
  LIB = File.expand_path("../../../lib/bontebok", __dir__)

  # A process that is created during an operation begins with it.
  module Forking
    def _fork
      super.tap { |pid| BenchPaths.begin if pid.zero? }
    end
  end

  # Handlers of at_exit do not run before these methods.
  module Ending
    %i[exec exit!].each do |name|
      define_method(name) do |*args, **options|
        BenchPaths.write
        super(*args, **options)
      end
    end
  end

  class << self
    def begin = @before = calls

    def mark
      now = calls
      @idle = since(@before, now) if @before
      @before = now
    end

    # Appends, because a process can execute another program.
    def write
      files = (since(@before || {}, calls) - [*@idle]).map(&:first).uniq
      title = File.read("/proc/self/cmdline").tr("\0", " ").strip
      File.write(File.join(DIRECTORY, Process.pid.to_s), [title, *files].join("\t") << "\n", mode: "a")
    rescue SystemCallError
      nil # the operation is over
    end

    private

    # The methods that were called.
    def since(before, now) = now.filter_map { |method, count| method if count > before.fetch(method, 0) }

    # [file, class, name, lines and columns] => calls
    def calls
      Coverage.peek_result.flat_map do |file, found|
        next [] unless file.start_with?(LIB)

        found.fetch(:methods).map { |method, count| [[file, *method], count] }
      end.to_h
    end
  end
end

Coverage.start(methods: true)
Process.singleton_class.prepend(BenchPaths::Forking, BenchPaths::Ending)
Kernel.prepend(BenchPaths::Ending)
Signal.trap("URG") { BenchPaths.mark }
Signal.trap("WINCH") { BenchPaths.write }
at_exit { BenchPaths.write }
