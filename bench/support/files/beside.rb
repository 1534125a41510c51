# frozen_string_literal: true

require "socket"
require_relative "../load"
require_relative "../median"
require_relative "one_worker"

module Bench
  module Files
    # What files and the application cost each other, with one worker of one thread over TCP:
    #
    # - the rate of a file of 1 KiB while the only thread of the application hangs, beside the rate while it is idle;
    # - rate, p99 and CPU time of hello world while 200 slow clients load a file of 100 MiB, beside those without them.
    #   The slow clients need the load tool's processor. So there is a third figure, while they load the file from
    #   another server, which has nothing else to do.
    #
    # Each pair alternates; the figures are medians.
    class Beside
      CONNECTIONS = 16
      SLOW = 200
      TURN = 0.1 # seconds in which each slow client reads once
      AT_ONCE = 5 # slow clients that read at the same time; all 200 at once would delay the load tool by milliseconds
      SETTLE = 1 # seconds; the socket buffers of the slow clients are full then
      PART = 4096 # bytes that a slow client reads at once
      SECONDS = 2

      # tree: a Tree. dir: for the log. cores: CPU numbers of the server.
      def initialize(tree, dir, cores, rounds:)
        @tree = tree
        @log = File.join(dir, "beside.log")
        @core = cores.first
        @rounds = rounds
      end

      def run
        Load.stay_on_core
        @server = OneWorker.new([@tree.root], @core, @log)
        @other = OneWorker.new([@tree.root], @core, @log)
        report
      ensure
        [@server, @other].compact.each(&:finish)
      end

      private

      def report
        puts "", "1 KiB file, requests per second: the application is idle, its only thread hangs"
        idle, hangs = pairs(-> { file_rate }, -> { while_it_hangs { file_rate } })
        puts format("%12.0f %12.0f   %.1f %%", idle, hangs, 100 * hangs / idle)
        puts "", "hello world, requests per second, p99 in us, CPU us of the server per request:",
             "alone, beside #{SLOW} slow clients of 100 MiB, beside slow clients of another server"
        results = Array.new(@rounds) do
          [load("/"), beside_slow_clients(@server) { load("/") }, beside_slow_clients(@other) { load("/") }]
        end.transpose
        %i[rate p99 cpu].each do |figure|
          alone, *beside = results.map { |all| Bench.median(all.map { |result| send(figure, result) }) }
          shares = beside.map { |value| format("%12.1f (%.1f %%)", value, 100 * value / alone) }
          puts format("%12.1f ", alone) + shares.join
        end
      end

      # The medians of both.
      def pairs(one, other)
        Array.new(@rounds) { [one.call, other.call] }.transpose.map { |all| Bench.median(all) }
      end

      # [Load::Result, CPU nanoseconds of the server]
      def load(path)
        before = @server.cpu_ns
        [Load.run(@server.address, "-c", CONNECTIONS, "-d", SECONDS, path: path), @server.cpu_ns - before]
      end

      def file_rate = rate(load("/1k.js"))
      def rate((result, _)) = result.rate
      def p99((result, _)) = result.latency_us.fetch("p99")
      def cpu((result, cpu)) = cpu / 1000.0 / result.requests

      # The load is shorter than the request for /hang.
      def while_it_hangs
        socket = connect(@server, "GET /hang HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        yield.tap { socket.read }
      ensure
        socket&.close
      end

      def beside_slow_clients(server)
        pid = fork { load_slowly(server) }
        system("chrt", "-a", "-i", "-p", "0", pid.to_s)
        sleep SETTLE
        yield
      ensure
        Process.kill(:KILL, pid)
        Process.wait(pid)
      end

      def load_slowly(server)
        sockets = Array.new(SLOW) { connect(server, "GET /100m.bin HTTP/1.1\r\nHost: x\r\n\r\n", receive: PART) }
        sockets.cycle.each_slice(AT_ONCE) do |some|
          some.each { |socket| socket.read_nonblock(PART, exception: false) }
          sleep TURN * AT_ONCE / SLOW
        end
      end

      # receive: bytes of the socket's buffer.
      def connect(server, request, receive: nil)
        host, port = server.address.split(":")
        socket = Socket.new(:INET, :STREAM)
        socket.setsockopt(:SOCKET, :RCVBUF, receive) if receive
        socket.connect(Addrinfo.tcp(host, port))
        socket.write(request)
        socket
      end
    end
  end
end
