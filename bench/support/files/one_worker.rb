# frozen_string_literal: true

require_relative "../load"
require_relative "../process_group"
require_relative "commands"

module Bench
  module Files
    # Our server with one worker of one thread, over TCP, with the application hangs.ru.
    class OneWorker
      APP = File.join(Commands::APPS, "hangs.ru")
      BOOT = 30

      # "127.0.0.1:PORT"
      attr_reader :address

      # directories: of `public`. core: CPU numbers as taskset takes them. log: path. Raises if it does not start.
      def initialize(directories, core, log)
        @address = Load.address("tcp", nil, nil)
        command = ["bundle", "exec", File.join(Build::ROOT, "exe/bontebok"), "-w", "1", "-t", "1", "-E", "production",
                   "-l", @address, "--control", "none", *directories.flat_map(&Commands::PUBLIC), APP]
        @group = ProcessGroup.new(command, env: Build.gems_of(File.join(Build::ROOT, "Gemfile")), address: @address,
                                           core: core, log: log)
        return if @group.ready?(BOOT)

        finish
        raise "the server does not start: #{File.read(log)[0, 200]}"
      end

      def cpu_ns = @group.cpu_ns
      def finish = @group.finish
    end
  end
end
