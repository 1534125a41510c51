# frozen_string_literal: true

require "minitest/mock"
require "bontebok/bontebok"
require "bontebok/processes/adopted_workers"
require "bontebok/sockets/shared/totals"
require "bontebok/log/log"

# Helpers for tests of AdoptedWorkers, which adopts the workers of a dead master. Here the workers are children of the
# test process.
module AdoptedWorkersCase
  # The part of Bontebok::WorkerLinks that AdoptedWorkers uses.
  Board = Struct.new(:pids, :forgotten, :leaving, :waiting, :stalled_workers, :totals) do
    def forget(pid)
      forgotten << pid
    end

    def stalled(_seconds) = stalled_workers
  end
  # The part of Bontebok::Config that AdoptedWorkers uses.
  Times = Struct.new(:graceful_timeout, :hijack_timeout, :worker_timeout, keyword_init: true) do
    def seconds(name) = self[name]
  end
  GRACE = 30
  HIJACK = 300

  def setup
    @scoreboard = Board.new([], [], [], [], nil, Bontebok::Totals.open)
    @reader, @writer = IO.pipe
    @times = Times.new(graceful_timeout: GRACE, hijack_timeout: HIJACK)
    @forked = []
    @adopted = Bontebok::AdoptedWorkers.new(@scoreboard, @times, log: Bontebok::Log.new(@writer),
                                                                 forked: ->(pid) { @forked.include?(pid) }) { @most }
    @said, @say = IO.pipe
    @pids = []
  end

  def teardown
    @pids.each do |pid|
      Process.wait(pid) if Process.kill("KILL", pid)
    rescue SystemCallError
      next # the process has ended
    end
    [@reader, @writer, @said, @say, @scoreboard.totals].each(&:close)
  end

  private

  # most: how many of the workers may serve.
  def tick(most)
    @most = most
    @adopted.tick
  end

  # Starts children that write each signal to @say. Returns the pids of the children.
  def start(count)
    pids = Array.new(count) do
      begun, begin_to_wait = IO.pipe
      pid = fork do
        %w[TERM QUIT INT].each { |signal| trap(signal) { @say.syswrite("#{signal} to #{Process.pid}\n") } }
        begin_to_wait.close
        loop { sleep }
      end
      begin_to_wait.close
      begun.read # returns when the child handles signals
      begun.close
      pid
    end
    @pids += pids
    @scoreboard.pids = @pids
    pids
  end

  def later(seconds, &)
    now = Bontebok::Clock.now + seconds
    Bontebok::Clock.stub(:now, -> { now }, &)
  end

  # The ends of workers that are counted, and the last note about one.
  def counted_ends
    metrics = @scoreboard.totals.memories.first
    [metrics.totals[:names], metrics.notes(:end).last&.last]
  end

  def logged
    @logged = "#{@logged}#{@reader.read_nonblock(65_536)}"
  rescue IO::WaitReadable
    @logged
  end
end
