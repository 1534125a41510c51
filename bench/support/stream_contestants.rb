# frozen_string_literal: true

require_relative "build"
require_relative "contestants"

module Bench
  # The servers of bench/stream: one process each, on a port of 127.0.0.1. All run with the gems of one Gemfile.
  module StreamContestants
    GEMFILE = "bench/peers/stream/Gemfile"
    APPS = File.join(Contestants::APPS, "stream")
    OURS = "bontebok"
    PEERS = %w[puma falcon iodine].freeze
    THREADS = 3

    module_function

    # Ours and these peers. file: the path of the file that the application sends.
    def names(peers)
      unknown = peers - PEERS - ["none"]
      abort("no such peer: #{unknown.first}; there are #{PEERS.join(', ')}") if unknown.any?
      [OURS, *peers - ["none"]]
    end

    def find(name, port, file)
      env = { "RACK_ENV" => "production", "BENCH_FILE" => file,
              **Build.gems_of(File.join(Build::ROOT, GEMFILE)) }
      Contestants::Contestant.new(name: name, env: env, command: ["bundle", "exec", *send(name, port)])
    end

    def bontebok(port)
      [File.join(Build::ROOT, "exe/bontebok"), "-E", "production", "-w", "1", "-t", THREADS.to_s,
       "-l", "127.0.0.1:#{port}", app("threads")]
    end

    def puma(port)
      ["puma", "-q", "-e", "production", "-t", "#{THREADS}:#{THREADS}", "-b", "tcp://127.0.0.1:#{port}", app("threads")]
    end

    def falcon(port) = ["falcon", "serve", "-n", "1", "-b", "http://127.0.0.1:#{port}", "-c", app("falcon")]
    def iodine(port) = ["iodine", "-b", "127.0.0.1", "-p", port.to_s, "-w", "1", "-t", "1", app("iodine")]
    def app(name) = File.join(APPS, "#{name}.ru")
  end
end
