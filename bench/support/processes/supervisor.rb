# frozen_string_literal: true

require "rbconfig"
require_relative "../../../lib/bontebok/system/process_memory"
require_relative "../aim"
require_relative "../build"
require_relative "../contestants"
require_relative "../process_group"

module Bench
  # The memory of Bontebok's supervisor without Bundler, for hello world with one worker: after the start, after a
  # deploy, and after `deploy --supervisor`. Beside it an empty Ruby, without and with RubyGems, and with the libraries
  # of Ruby that the supervisor needs. All of them run at the same time, so each has the same part of Ruby's library.
  class SupervisorMemory
    EMPTY = { "empty Ruby, --disable=gems" => ["--disable=gems"],
              "with RubyGems" => [],
              "with RubyGems, socket and json" => %w[-rsocket -rjson] }.freeze
    STEPS = { "start" => nil, "deploy" => %w[deploy --wait],
              "deploy --supervisor" => %w[deploy --supervisor --wait] }.freeze
    MEGABYTE = 1024.0**2
    # The most MB above the empty Ruby.
    AIM = 3

    # roots: { name => directory of the checkout }.
    def initialize(dir, roots)
      @dir = dir
      @roots = roots
    end

    def run
      puts "The supervisor without Bundler, hello world, one worker: PSS and private memory, MB", "",
           "| process | after | PSS | private |", "|---|---|---|---|"
      sleeping = EMPTY.transform_values { |options| spawn(RbConfig.ruby, *options, "-e", "sleep") }
      worst = @roots.map { |name, root| measure(name, root) }.last
      empty = sleeping.map { |name, pid| report(name, "", pid) }.first
      puts
      Bench.aim("at most #{AIM} MB above the empty Ruby", worst - empty <= AIM)
    ensure
      sleeping&.each_value { |pid| Process.kill(:KILL, pid) && Process.wait(pid) }
    end

    private

    # Returns the most memory.
    def measure(name, root)
      control = File.join(@dir, "#{File.basename(root)}.control")
      address = "#{control}.sock"
      program = [RbConfig.ruby, File.join(root, "exe/bontebok")]
      command = [*program, "-w", "1", "-l", "unix:#{address}", "--control", control, Contestants::HELLO]
      server = ProcessGroup.new(command, env: {}, address: address, core: "0-1", log: "#{control}.log")
      server.ready? || abort("#{name} does not start: #{File.read("#{control}.log")}")
      STEPS.map { |step, command| take(name, step, server, command && [*program, *command, "--control", control]) }.max
    ensure
      server&.finish
    end

    def take(name, step, server, command)
      Build.run!(*command) if command
      sleep 1 # the former processes end
      report("#{name}: supervisor", step, server.pid)
    end

    # Returns the PSS.
    def report(name, step, pid)
      memory = Bontebok::ProcessMemory.read("/proc/#{pid}/smaps_rollup")
      own, share = memory.to_a.map { |bytes| (bytes / MEGABYTE).round(1) }
      puts "| #{name} | #{step} | #{share} | #{own} |"
      share
    end
  end
end
