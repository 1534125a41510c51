# frozen_string_literal: true

require "fileutils"
require "socket"
require "tmpdir"
require_relative "../load"
require_relative "../process_group"
require_relative "contestants"
require_relative "probe"
require_relative "shares"

module Bench
  module Faults
    # Runs one server with one fault. The fault uses this object to reach the server's processes and to send requests.
    class Run
      # The second at which the fault happens.
      STRIKE = 3
      READY_LIMIT = 20

      # notes: remarks for the row of the table. workers: pids of the workers before the fault.
      attr_reader :contestant, :group, :notes, :workers

      # threads: per worker.
      def initialize(fault, server, seconds:, rate:, threads:)
        @fault = fault
        @seconds = seconds
        @rate = rate
        @dir = Dir.mktmpdir("bontebok-faults")
        @address = Load.address("tcp", @dir, "")
        @contestant = CONTESTANTS.fetch(server).new(@address, @dir, { threads: threads, **fault.settings })
        @clients = []
        @notes = []
      end

      # Shares, or nil with the reason in #notes.
      def measure
        boot
        return leave_out unless ready?

        requests = probe.run do |start|
          wait_until(@start = start + STRIKE)
          strike
          wait_until(start + @seconds)
        end
        @fault.finish(self)
        Shares.new(requests, seconds: @seconds, limit: @fault.limit, strike: STRIKE)
      ensure
        @clients.each(&:close)
        group&.finish
        FileUtils.rm_rf(@dir)
      end

      # The process that forks the workers.
      def master = parent(workers.first)

      # The process that was started.
      def first = group.pid

      def note_path(name) = File.join(@dir, name)
      def note(name) = FileUtils.touch(note_path(name))

      # Sends a request and returns the socket, which stays open.
      def ask(path, text = "GET #{path} HTTP/1.1\r\nHost: fault\r\n\r\n", receive_buffer: nil)
        host, port = @address.split(":")
        socket = Socket.new(:INET, :STREAM)
        socket.setsockopt(:SOCKET, :RCVBUF, receive_buffer) if receive_buffer
        @clients << socket
        socket.connect_nonblock(Socket.sockaddr_in(Integer(port), host), exception: false)
        socket.wait_writable(0.2)
        socket.write_nonblock(text)
        socket
      rescue SystemCallError
        socket
      end

      # Sends a request and returns the pid of the worker that serves it now. The application writes the pid into a
      # file.
      def worker_at(path)
        ask(path)
        file = note_path(path.split("/")[1])
        limit = now + 2
        sleep 0.005 until now > limit || File.size?(file)
        Integer(File.read(file))
      end

      # Sends a request on a connection of this worker. Opens several connections first, so that each worker has some.
      def ask_worker(pid, path)
        sockets = Array.new(4 * workers.size) { ask("/sleep/0.02") }
        served = sockets.select { |socket| socket.wait_readable(1) && socket.read_nonblock(4096).end_with?(pid.to_s) }
        return notes << "the fault did not happen: no connection to worker #{pid}" if served.empty?

        served.last.write("GET #{path} HTTP/1.1\r\nHost: fault\r\n\r\n")
      end

      # Calls the block every `interval` seconds until the probe ends.
      def every(interval)
        due = @start
        while due < @start + @seconds - STRIKE
          wait_until(due)
          yield
          due += interval
        end
      end

      # Seconds that the server takes to end after the signal; nil if it does not end within the limit.
      def stop_seconds(signal, limit)
        pids = group.pids
        start = now
        Process.kill(signal, first)
        sleep 0.02 until now > start + limit || pids.none? { |pid| alive?(pid) }
        now - start if pids.none? { |pid| alive?(pid) }
      end

      private

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      def log = note_path("log")
      def cores = File.read("/proc/self/status")[/^Cpus_allowed_list:\s*(\S+)/, 1]

      def strike
        @fault.strike(self)
      rescue SystemCallError => e
        notes << "the fault did not happen: #{e.message}"
      end

      def leave_out
        notes << "does not start: #{File.readlines(log, chomp: true).last(2).join(' ')}"
        nil
      end

      def boot
        FileUtils.chmod(0o777, @dir)
        env = { "RACK_ENV" => "production", "HOME" => @dir, "TMPDIR" => @dir,
                "BENCH_DIR" => @dir, "BENCH_LOAD_SECONDS" => @fault.load_seconds.to_s }
        @group = ProcessGroup.new([*@fault.wrap, *contestant.command], env: contestant.env.merge(env), log: log,
                                                                       address: @address, core: cores)
      end

      # Whether all workers serve. Sends one request per worker at the same time.
      def ready?
        return false unless group.ready?

        @workers = []
        count = contestant.settings[:workers]
        limit = now + READY_LIMIT
        @workers |= Array.new(count) { Thread.new { worker } }.map(&:value) until @workers.size == count || now > limit
        @workers.size == count
      end

      def worker
        socket = TCPSocket.new(*@address.split(":"))
        socket.write("GET /sleep/0.1 HTTP/1.1\r\nHost: fault\r\nConnection: close\r\n\r\n")
        Integer(socket.read[/\d+\z/])
      ensure
        socket&.close
      end

      def probe
        kinds = @fault.kinds
        Probe.new(@address, path: @fault.path, rate: @rate, seconds: @seconds, kinds: kinds, reopen: kinds != [:kept],
                            owner: @fault.owner(self))
      end

      def parent(pid) = Integer(File.read("/proc/#{pid}/stat").sub(/\A.*\) /, "").split[1])

      def alive?(pid)
        !File.read("/proc/#{pid}/stat").match?(/\A\d+ \(.*\) Z/)
      rescue SystemCallError
        false
      end

      def wait_until(time)
        pause = time - now
        sleep(pause) if pause.positive?
      end
    end
  end
end
