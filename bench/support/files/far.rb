# frozen_string_literal: true

require "fileutils"
require "socket"
require_relative "one_worker"
require_relative "slow_mount"

module Bench
  module Files
    # How long other requests wait while a directory of `public` delays each look-up by 1 s, with one worker of one
    # thread over TCP: requests for a file of a directory on this machine and for the application, on a kept connection,
    # first alone, then beside clients that ask for files of the slow directory, one after the other.
    class Far
      DELAY = 1000 # ms
      CLIENTS = 8
      FILES = 1000
      SECONDS = 10
      PAUSE = 0.002 # seconds between two requests

      # tree: a Tree. dir: for the files. cores: CPU numbers of the server.
      def initialize(tree, dir, cores)
        @tree = tree
        @dir = FileUtils.mkdir_p(File.join(dir, "far")).first
        @core = cores.first
      end

      def run
        missing = SlowMount.missing
        return puts("", "left out: look-ups that wait: #{missing} is missing") if missing

        mount = SlowMount.new(@dir, longest: DELAY)
        FILES.times { |number| File.write("#{mount.source}/#{number}.txt", "far") }
        mount.hold
        Load.stay_on_core
        @server = OneWorker.new([@tree.root, mount.path], @core, File.join(@dir, "far.log"))
        report
      ensure
        @server&.finish
        mount&.finish
      end

      private

      def report
        puts "", "While a directory of `public` delays each look-up by #{DELAY} ms: the times of other requests in ms",
             "(p50, p99, the longest), alone, and beside #{CLIENTS} clients that ask for its files"
        print_times("alone", times)
        far = Array.new(CLIENTS) { |client| Thread.new { load_far(client) } }
        print_times("beside", times)
        puts "files of the directory in #{SECONDS} s: #{far.sum { |thread| thread.kill.join[:files].to_i }}"
      end

      def print_times(name, sorted)
        figures = [sorted[sorted.size / 2], sorted[sorted.size * 99 / 100], sorted.last]
        puts format("%-8s %8.2f %8.2f %8.2f   of %d requests", name, *figures, sorted.size)
      end

      def times
        socket = connect
        limit = now + SECONDS
        %w[/1k.js / /application].cycle.lazy.take_while { now < limit }.map { |path| time(socket, path) }.to_a.sort
      ensure
        socket&.close
      end

      def time(socket, path)
        sleep PAUSE
        start = now
        get(socket, path)
        (now - start) * 1000
      end

      # Each file is asked for once.
      def load_far(client)
        socket = connect
        (client...FILES).step(CLIENTS) do |number|
          raise "no file" unless get(socket, "/#{number}.txt") == "far"

          Thread.current[:files] = Thread.current[:files].to_i + 1
        end
      end

      def connect = TCPSocket.new(*@server.address.split(":"))

      def get(socket, path)
        socket.write("GET #{path} HTTP/1.1\r\nHost: x\r\n\r\n")
        socket.read(Integer(socket.gets("\r\n\r\n")[/^content-length: (\d+)/i, 1]))
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
