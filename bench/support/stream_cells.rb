# frozen_string_literal: true

require "json"
require "net/http"
require "open3"
require_relative "build"
require_relative "load"
require_relative "process_group"

module Bench
  # The cells (kinds of work) of bench/stream. Each cell has `measure`, which returns a Run. #reason says why a server
  # cannot do the work; the other fields are nil then.
  module StreamCells
    # cpu_us: the server's CPU microseconds per message or request. p50, p99, longest (of messages only): milliseconds.
    Run = Struct.new(:rate, :cpu_us, :p50, :p99, :longest, :reason, keyword_init: true)
    # Seconds after which a request, or the client program, has failed.
    TIMEOUT = 20

    # Many clients that keep their connections: Server-Sent Events or WebSockets. arguments: those of the client program
    # after the seconds.
    Clients = Struct.new(:name, :title, :path, :clients, :arguments, keyword_init: true) do
      def unit = "message"

      # server: a ProcessGroup. Its CPU time is read while all clients are connected.
      def measure(server, port, seconds)
        Open3.popen2("taskset", "-c", Load::CORE.to_s, Build.stream_client, name, port.to_s, path, clients.to_s,
                     seconds.to_s, *arguments) do |_stdin, output, _process|
          line = output.gets
          before = server.cpu_ns
          line = output.gets if line == "ready\n"
          result = line ? JSON.parse(line) : { "reason" => "the clients have waited for too long" }
          figures(result, server.cpu_ns - before)
        end
      end

      def figures(result, cpu_ns)
        return Run.new(reason: result["reason"]) if result["reason"]

        Run.new(rate: result["messages"] / result["seconds"], cpu_us: cpu_ns / 1000.0 / result["messages"],
                p50: result["p50_us"] / 1000, p99: result["p99_us"] / 1000, longest: result["max_us"] / 1000)
      end
    end

    # Requests over kept-alive connections. Each connection sends its next request as soon as it has a response. bytes:
    # the right body.
    Requests = Struct.new(:name, :title, :path, :connections, :body, keyword_init: true) do
      def unit = "request"

      def measure(server, port, seconds)
        fault = fault(port)
        return Run.new(reason: fault) if fault

        before = server.cpu_ns
        result = Load.run("127.0.0.1:#{port}", "-d", seconds, "-c", connections, "--timeout", TIMEOUT, path: path)
        return Run.new(reason: "failed requests: #{result.errors}") if result.failed.positive?

        Run.new(rate: result.rate, cpu_us: (server.cpu_ns - before) / 1000.0 / result.requests,
                p50: result.latency_us["p50"] / 1000, p99: result.latency_us["p99"] / 1000)
      end

      # Why the server's response is wrong, or nil.
      def fault(port)
        response = Net::HTTP.start("127.0.0.1", port, open_timeout: TIMEOUT, read_timeout: TIMEOUT) do |http|
          http.get(path, "Accept-Encoding" => "identity")
        end
        return "status #{response.code}" unless response.code == "200"

        "another body" unless response.body == body
      rescue SystemCallError, IOError, Timeout::Error, Net::HTTPBadResponse => e
        e.message
      end
    end
  end
end
