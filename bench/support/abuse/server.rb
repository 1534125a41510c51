# frozen_string_literal: true

require "open3"
require_relative "../load"
require_relative "../process_group"
require_relative "../sanitized"

module Bench
  module Abuse
    # The server under test: a supervisor, a master and two workers with two threads each, all under the sanitizers.
    class Server
      APP = File.join(__dir__, "../../apps/soak.ru")
      WORKERS = 2
      # Limits that hostile clients reach. A worker that ends waits for streams for 20 s: longer than they last.
      OPTIONS = %w[-w 2 -t 2 -E production --spool-threshold 64K --unbuffered-bodies /unbuffered --header-timeout 10
                   --body-timeout 10 --write-timeout 10 --hijack-timeout 20].freeze
      # After `bundle exec PATH`, a deploy would execute the file of the bundle.
      RUBY = %w[ruby -rbundler/setup].freeze
      # A process of the server. role: :supervisor, :master or :worker.
      Member = Struct.new(:pid, :role)

      def initialize(dir)
        @dir = dir
        @sanitized = Sanitized.new(dir).build
        @paths = %i[unix tcp].map { |transport| Load.address(transport, dir, "socket") }
      end

      # As the load tool takes them.
      attr_reader :paths

      # As test/support takes them.
      def addresses = ["unix:#{paths[0]}", paths[1]]

      def start
        listen = addresses.flat_map { |address| ["-l", address] }
        logs = ["--access-log", File.join(@dir, "access.log")]
        command = [*RUBY, @sanitized.executable, *OPTIONS, *listen, *logs, "--control", control, APP]
        @group = ProcessGroup.new(command, env: { **gems, **@sanitized.env }, address: paths.first,
                                           core: Abuse.cores, log: log_file)
        @group.ready? || abort(log)
      end

      # Returns nil if the deploy succeeded, otherwise what the command has printed.
      def deploy
        program = File.join(Build::ROOT, "exe/bontebok")
        output, status = Open3.capture2e(gems, *RUBY, program, "deploy", "--wait", "--control", control)
        "#{status}: #{output}" unless status.success?
      end

      def members
        @group.pids.filter_map do |pid|
          role = File.read("/proc/#{pid}/cmdline")[/\Abontebok (supervisor|master|worker)/, 1]
          Member.new(pid, role.to_sym) if role
        rescue Errno::ENOENT, Errno::ESRCH
          nil
        end
      end

      def workers = members.select { |member| member.role == :worker }.map(&:pid)

      # One generation, and no other process.
      def settled?
        roles = members.map(&:role)
        roles.tally == { supervisor: 1, master: 1, worker: WORKERS } && @group.pids.size == roles.size
      end

      def sanitized? = members.all? { |member| File.read("/proc/#{member.pid}/maps").include?(@sanitized.library) }
      def finish = @group&.finish
      def reports = @sanitized.reports
      def log = File.read(log_file)
      def log_file = File.join(@dir, "log")

      private

      def control = File.join(@dir, "control")
      def gems = Build.gems_of(File.join(Build::ROOT, "Gemfile"))
    end
  end
end
