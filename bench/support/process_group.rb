# frozen_string_literal: true

require "socket"

module Bench
  # A server under measurement. It is frozen (SIGSTOP) while other servers are measured. Its processes are found by
  # their session, because each worker of pitchfork and itsi has its own process group.
  class ProcessGroup
    BOOT_DEADLINE = 20
    END_DEADLINE = 5
    # Index of the session in the fields of /proc/PID/stat after the name, proc(5).
    SESSION = 3

    # The process that was started.
    attr_reader :pid

    # command: argv; env: its environment; address: "/path" or "127.0.0.1:PORT"; core: CPU numbers as taskset takes
    # them; log: path.
    def initialize(command, env:, address:, core:, log:)
      @address = address
      @pid = spawn(env, "setsid", "taskset", "-c", core.to_s, *command, in: File::NULL, out: log, err: log,
                                                                        close_others: true)
    end

    # Waits until the server accepts connections. False if it ends, or accepts none within these seconds.
    def ready?(seconds = BOOT_DEADLINE)
      limit = now + seconds
      until connects?
        return false if now > limit || Process.wait(@pid, Process::WNOHANG)

        sleep 0.05
      end
      true
    end

    # The pids of the server's processes.
    def pids
      Dir["/proc/[0-9]*/stat"].filter_map do |file|
        fields = File.read(file).sub(/\A\d+ \(.*\) /, "").split
        file[/\d+/].to_i if fields[SESSION].to_i == @pid
      rescue Errno::ENOENT, Errno::ESRCH
        nil
      end
    end

    # CPU nanoseconds of all threads of the server.
    def cpu_ns
      pids.sum { |pid| Dir["/proc/#{pid}/task/*/schedstat"].sum { |file| File.read(file).to_i } }
    rescue Errno::ENOENT, Errno::ESRCH
      retry
    end

    # How often each thread has woken up: { thread's file => number }. The number of wake-ups is that of voluntary
    # context switches.
    def wakes
      pids.flat_map { |pid| Dir["/proc/#{pid}/task/*/status"] }.to_h do |file|
        [file, Integer(File.read(file)[/^voluntary_ctxt_switches:\s*(\d+)/, 1])]
      end
    rescue Errno::ENOENT, Errno::ESRCH
      retry
    end

    # Bytes of private memory of the newest process, which is the worker.
    def private_bytes
      worker = pids.max
      File.read("/proc/#{worker}/smaps_rollup").scan(/^Private_\w+:\s+(\d+)/).sum { |(kib)| kib.to_i } * 1024
    end

    def pause = signal(:STOP)
    def resume = signal(:CONT)

    # TERM goes only to the first process, which ends its workers. After these seconds, KILL goes to all.
    def finish(seconds = END_DEADLINE)
      resume
      Process.kill(:TERM, @pid)
      limit = now + seconds
      sleep 0.05 until now > limit || Process.wait(@pid, Process::WNOHANG)
    rescue Errno::ESRCH, Errno::ECHILD
      nil
    ensure
      signal(:KILL)
    end

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    def signal(name)
      pids.each do |pid|
        Process.kill(name, pid)
      rescue Errno::ESRCH
        nil
      end
    end

    def connects?
      socket = @address.start_with?("/") ? UNIXSocket.new(@address) : TCPSocket.new(*@address.split(":"))
      socket.close
      true
    rescue SystemCallError
      false
    end
  end
end
