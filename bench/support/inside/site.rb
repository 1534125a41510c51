# frozen_string_literal: true

require "open3"
require "socket"
require_relative "../contestants"
require_relative "../process_group"

module Bench
  module Inside
    # A running server for one state, its clients, and what `bontebok status` says about it.
    class Site
      APP = File.join(Contestants::APPS, "inside.ru")
      HEAD = "GET %s HTTP/1.1\r\nHost: bench\r\n\r\n"
      # status: exit status. milliseconds: from the first line of the command to its end, without the start of Ruby.
      Answer = Struct.new(:text, :status, :milliseconds, keyword_init: true)

      attr_reader :pid

      # options: of the server, without addresses. limit: of descriptors; nil: as here.
      def initialize(dir, options, limit: nil)
        @dir = dir
        @address = File.join(dir, "app.sock")
        @control = File.join(dir, "control.sock")
        @clients = []
        ours = Contestants.ours(@address).first
        @env = { **ours.env, "BENCH_DIR" => dir }
        @program = ours.command.take_while { |word| word != "-w" }
        command = [*limited(limit), *@program, *options, "-l", "unix:#{@address}", "--control", @control, APP]
        @server = ProcessGroup.new(command, env: @env, address: @address, core: "0,1", log: log)
        abort(File.read(log)) unless @server.ready?
        @pid = @server.pid
      end

      def log = File.join(@dir, "log")

      # Sends requests and does not wait for the responses.
      def request(path, count = 1)
        count.times { connect.write(format(HEAD, path)) }
      end

      def connect
        UNIXSocket.new(@address).tap { |socket| @clients << socket }
      end

      # Tells the application that loads next what to do.
      def note(name) = File.write(File.join(@dir, name), "")
      def remove(name) = File.unlink(File.join(@dir, name))

      # Runs another command, in the background if it takes long.
      def command(*words)
        streams = { in: File::NULL, out: File::NULL, err: File::NULL }
        Process.detach(spawn(@env, *@program, *words, "--control", @control, streams))
      end

      # The pids of the processes with this title: "master", "worker".
      def pids(title)
        @server.pids.select { |pid| File.read("/proc/#{pid}/cmdline").start_with?("bontebok #{title}") }
      end

      # Called after #status. A frozen process must run again, so that the server can end.
      def close
        @clients.each(&:close)
        @server.finish(0)
      end

      # The command in a Ruby of its own, which prints the time that it has needed.
      def status
        reader, writer = IO.pipe
        ruby = @program.take_while { |word| !word.end_with?("exe/bontebok") }
        text, status = Open3.capture2e(@env, *ruby, RbConfig.ruby, File.join(__dir__, "timed_command.rb"),
                                       writer.fileno.to_s, "status", "--control", @control, writer => writer)
        writer.close
        Answer.new(text: text, status: status.exitstatus, milliseconds: reader.read.to_f)
      end

      private

      def limited(limit)
        limit ? ["prlimit", "--nofile=#{limit}:#{limit}"] : []
      end
    end
  end
end
