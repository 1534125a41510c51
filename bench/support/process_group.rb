# frozen_string_literal: true

require "socket"

module Bench
  # A server under measurement. It runs on one core, and is stopped (SIGSTOP) while others are measured. It has its own
  # session, so its processes are found even if each worker has its own process group, as in pitchfork and itsi.
  class ProcessGroup
    BOOT_DEADLINE = 20
    # Index in /proc/PID/stat after the name, proc(5).
    SESSION = 3

    # The process that was started.
    attr_reader :pid

    # command: argv; env: its environment; address: "/path" or "127.0.0.1:PORT"; core: CPU number, or
    # several as taskset takes them; log: path.
    def initialize(command, env:, address:, core:, log:)
      @address = address
      @pid = spawn(env, "setsid", "taskset", "-c", core.to_s, *command, in: File::NULL, out: log, err: log,
                                                                        close_others: true)
    end

    # Waits until the server accepts. False if it ended, or did not accept in time.
    def ready?
      limit = now + BOOT_DEADLINE
      until connects?
        return false if now > limit || Process.wait(@pid, Process::WNOHANG)

        sleep 0.05
      end
      true
    end

    # The pids of the processes that live now.
    def pids
      Dir["/proc/[0-9]*/stat"].filter_map do |file|
        fields = File.read(file).sub(/\A\d+ \(.*\) /, "").split
        file[/\d+/].to_i if fields[SESSION].to_i == @pid
      rescue Errno::ENOENT, Errno::ESRCH
        nil
      end
    end

    # CPU nanoseconds of all threads of all its processes.
    def cpu_ns
      pids.sum { |pid| Dir["/proc/#{pid}/task/*/schedstat"].sum { |file| File.read(file).to_i } }
    rescue Errno::ENOENT, Errno::ESRCH
      retry
    end

    # How often each thread has gone to sleep, which is also how often it has woken up: { thread's file => times }.
    def wakes
      pids.flat_map { |pid| Dir["/proc/#{pid}/task/*/status"] }.to_h do |file|
        [file, Integer(File.read(file)[/^voluntary_ctxt_switches:\s*(\d+)/, 1])]
      end
    rescue Errno::ENOENT, Errno::ESRCH
      retry
    end

    # Bytes of private memory of its newest process, the worker.
    def private_bytes
      worker = pids.max
      File.read("/proc/#{worker}/smaps_rollup").scan(/^Private_\w+:\s+(\d+)/).sum { |(kib)| kib.to_i } * 1024
    end

    def pause = signal(:STOP)
    def resume = signal(:CONT)

    # TERM goes only to the first process, which ends its workers.
    def finish
      resume
      Process.kill(:TERM, @pid)
      limit = now + 5
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
