# frozen_string_literal: true

require_relative "../build"
require_relative "../contestants"

module Bench
  # The ways to deploy that bench/deploy measures. A kind has a command for two workers, and a method that deploys and
  # returns when the new workers serve and the old ones have left. To add one, write a class and name it in ALL.
  module DeployKinds
    ROOT = Build::ROOT
    FILES = File.join(ROOT, "bench/apps/deploy")
    APP = File.join(FILES, "app.ru")
    DEADLINE = 60 # seconds

    # The superclass. address: "127.0.0.1:PORT".
    class Kind
      attr_reader :log

      def initialize(address, log)
        @address = address
        @log = log
      end

      def name = self.class::NAME

      private

      # Waits until the log has `count` lines more than before the block.
      def wait_for_lines(pattern, count)
        wanted = lines(pattern).size + count
        yield
        limit = now + DEADLINE
        until lines(pattern).size >= wanted
          abort("#{name}: no deploy within #{DEADLINE} s:\n#{File.read(log).lines.last(9).join}") if now > limit
          sleep 0.01
        end
      end

      def lines(pattern) = File.read(log).scan(pattern)

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      def peer(*command, env: {})
        Contestants.peer(name, command, env: { "BENCH_LISTEN" => listen, **env })
      end
    end

    # USR2 to bontebok.
    class Own < Kind
      NAME = "bontebok USR2"

      def contestant = Contestants.ours(@address, 2, APP).first

      def deploy(pid)
        wait_for_lines(/master \(pid \d+\) has left/, 1) { Process.kill("USR2", pid) }
      end
    end

    # HUP to start_server, which keeps the listener: it starts another server, and then sends TERM to the old one.
    class StartServer < Kind
      NAME = "bontebok start_server"

      def contestant
        ours = Contestants.ours(@address, 2, APP).first
        at = ours.command.index("-l")
        command = ours.command[0...at] + ours.command[(at + 2)..]
        Contestants::Contestant.new(name: NAME, env: ours.env,
                                    command: ["start_server", "--port", @address, "--", *command])
      end

      def deploy(pid)
        wait_for_lines(/old worker \d+ died/, 1) { Process.kill("HUP", pid) }
      end
    end

    # USR2 to puma: the process executes itself again, and keeps the listeners.
    class PumaHot < Kind
      NAME = "puma USR2"

      def contestant
        peer("puma", "-e", "production", "-C", File.join(FILES, "puma.rb"), APP, env: { "BENCH_PRELOAD" => "true" })
      end

      def listen = "tcp://#{@address}"

      def deploy(pid)
        wait_for_lines(/Worker \d+ \(PID: \d+\) booted/, 2) { Process.kill("USR2", pid) }
      end
    end

    # USR1 to puma: its workers are replaced one after the other.
    class PumaPhased < PumaHot
      NAME = "puma USR1"

      def contestant = peer("puma", "-e", "production", "-C", File.join(FILES, "puma.rb"), APP)

      def deploy(pid)
        wait_for_lines(/Worker \d+ \(PID: \d+\) booted/, 2) { Process.kill("USR1", pid) }
      end
    end

    # USR2 to unicorn starts a second server; QUIT ends the first one.
    class Unicorn < Kind
      NAME = "unicorn USR2 + QUIT"

      def contestant = peer("unicorn", "-E", "none", "-c", File.join(FILES, "unicorn.rb"), APP)

      def listen = @address

      def deploy(_pid)
        master = lines(/#(\d+)\].*master process ready/).flatten.last.to_i
        wait_for_lines(/worker=\d ready/, 2) { Process.kill("USR2", master) }
        wait_for_lines(/master complete/, 1) { Process.kill("QUIT", master) }
      end
    end

    ALL = [Own, StartServer, PumaHot, PumaPhased, Unicorn].freeze
  end
end
