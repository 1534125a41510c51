# frozen_string_literal: true

require "fileutils"
require_relative "../deploy/kinds/own"

module Bench
  module Paths
    # A server whose processes note the files that they run (see recorder.rb).
    class Server < Deploys::Own
      NAME = "bontebok paths"
      # The processes of a server at rest: supervisor, master, two workers.
      SIZE = 4
      SETTLING = 0.5 # seconds
      KINDS = /\Abontebok (supervisor|master|worker)\b/

      # kept: whether the former generation stays loaded after a deploy.
      def initialize(address, dir, app, kept:)
        @notes = File.join(dir, "notes")
        Dir.mkdir(@notes)
        @env = { "BENCH_PATHS" => @notes, "RUBYOPT" => "-r#{File.join(__dir__, 'recorder.rb')}" }
        super(address, dir, app.class.new(app.rackup, { **app.env, **@env }, app.options))
        @kept = kept
      end

      def contestant = server("--control", control, "--keep-former", @kept ? "600s" : "0")

      # Returns when the server is at rest. A server that keeps former generations has one then.
      def start
        super
        wait_for(SIZE, [])
        return unless @kept

        before = group.pids
        command("deploy")
        wait_for(SIZE - 1, before)
      end

      # Runs the command to its end.
      def command(*words)
        output, status = Open3.capture2e(@env, *PROGRAM, *words, "--wait", "--control", control)
        raise Deploys::Failed, "#{name}: #{status}: #{output}" unless status.success?
      end

      # Kills the newest process with this word in its title.
      def kill(signal, word)
        signal(signal, group.pids.select { |pid| title(pid).include?(word) }.max)
      end

      # Runs the block, which begins an operation, and waits until the operation is complete. fresh: the number of
      # processes that it creates, and that stay. Returns { file => [kind of process, ...] }.
      def note(fresh)
        %w[URG CHLD URG].each { |name| tell(name) } # CHLD: an idle turn of the loops
        FileUtils.rm_f(Dir[File.join(@notes, "*")])
        before = group.pids
        yield
        wait_for(fresh, before)
        tell("WINCH")
        files
      end

      private

      # Waits until the server is at rest, with this number of processes that were not there before.
      def wait_for(fresh, before)
        size = SIZE + (@kept && before.any? ? 1 : 0)
        wait("#{size} processes, #{fresh} of them new") do
          group.pids.then { |pids| pids.size == size && (pids - before).size == fresh }
        end
        sleep(SETTLING)
      end

      def tell(name)
        group.pids.each { |pid| signal(name, pid) }
        sleep(SETTLING)
      end

      def title(pid) = File.read("/proc/#{pid}/cmdline")

      def files
        lines = Dir[File.join(@notes, "*")].flat_map { |path| File.readlines(path, chomp: true) }
        lines.each_with_object({}) do |line, kinds|
          title, *files = line.split("\t")
          files.each { |file| (kinds[file] ||= []).push(title[KINDS, 1] || "command").uniq! }
        end
      end
    end
  end
end
