# frozen_string_literal: true

require "json"
require "open3"
require "socket"
require_relative "build"
require_relative "fields"

module Bench
  # Runs the load tool (`bontebok bench`), by default on core 0.
  module Load
    CORE = 0

    # The load tool's result. requests: their number. errors: numbers by kind. latency_us: by percentile. cpu_us: CPU
    # microseconds of the load tool per request.
    Result = Struct.new(:requests, :errors, :rate, :latency_us, :cpu_us, keyword_init: true) do
      def failed = errors.values.sum
    end

    module_function

    # Moves the calling process to the clients' core.
    def stay_on_core
      system("taskset", "-a", "-p", "-c", CORE.to_s, Process.pid.to_s, out: File::NULL)
    end

    # An address for a server that is about to start: "/path" in the directory, or "127.0.0.1:PORT".
    def address(transport, dir, name)
      return File.join(dir, "#{name}.sock") if transport.to_s == "unix"

      server = TCPServer.new("127.0.0.1", 0)
      "127.0.0.1:#{server.addr[1].tap { server.close }}"
    end

    # core: CPU numbers as taskset takes them. wrap: a command that runs the load tool, such as perf stat.
    def run(address, *arguments, fields: [], path: "/", core: CORE, wrap: [])
      before = children_cpu
      output, = Open3.capture2(*wrap, "taskset", "-c", core.to_s, Build.load_tool, "--json", *arguments.map(&:to_s),
                               *fields.flat_map { |field| ["-H", field] }, url(address, path))
      result(JSON.parse(output), children_cpu - before)
    end

    # Returns a Hash for each second of the load: the lines of --timeline --json without the report.
    def timeline(address, *arguments, path: "/")
      output, = Open3.capture2("taskset", "-c", CORE.to_s, Build.load_tool, "--json", "--timeline",
                               *arguments.map(&:to_s), url(address, path))
      output.lines.map { |line| JSON.parse(line) }.select { |line| line.key?("second") }
    end

    # The requests that the load tool would send with these arguments: [[microseconds from the start, path], ...].
    def plan(address, *arguments, path: "/")
      output, = Open3.capture2(Build.load_tool, "--dry-run", *arguments.map(&:to_s), url(address, path))
      output.lines(chomp: true).map do |line|
        at, target = line.split("\t")
        [Float(at), target]
      end
    end

    def url(address, path) = address.start_with?("/") ? "unix:#{address}:#{path}" : "http://#{address}#{path}"

    def result(json, cpu)
      Result.new(requests: json["requests"], errors: json["errors"], rate: json["requests_per_second"],
                 latency_us: json["latency_us"], cpu_us: cpu * 1e6 / [json["requests"], 1].max)
    end

    # CPU seconds of the children that have ended and were waited for, from getrusage, with a resolution of
    # microseconds.
    def children_cpu = Process.times.then { |times| times.cutime + times.cstime }

    private_class_method :url, :result, :children_cpu
  end
end
