# frozen_string_literal: true

require "bontebok/processes/generations"
require_relative "fake_process"
require_relative "log_lines"
require_relative "stopped_clock"

# For tests of Generations: the test says what the masters do. The first one is forked, and the others belong to
# deploys.
module GenerationsCase
  include StoppedClock

  LIMIT = 60
  GRACE = 40
  HIJACK = 600
  PAUSE = 10
  WORKERS = 4
  KEPT = 900

  Config = Struct.new(:boot_seconds) do
    def seconds(key) = { err_respawn_interval: PAUSE, graceful_timeout: GRACE, hijack_timeout: HIJACK }.fetch(key)
  end

  # In place of a Rollout. steps: the results of #step. verdict: what #judge returns, or raises.
  Rollout = Struct.new(:steps, :verdict) do
    attr_reader :crashes, :alone

    def step(*) = steps.shift
    def deadline = nil
    def count(present) = present
    def end_trial = @alone = true
    def note_crash = @crashes = crashes.to_i + 1
    def judge = verdict.is_a?(Exception) ? raise(verdict) : verdict
  end

  # What Generations calls. calls: [[method, number of the generation, reason], ...].
  class Server
    attr_reader :calls, :started
    # rollouts: of the masters to come, nil: none. seconds: the results of #seconds_to_keep; the last one stays.
    attr_accessor :rollouts, :seconds, :listens, :serving, :fault

    def initialize
      @calls = []
      @started = []
      @rollouts = []
      @seconds = [0]
      @listens = Hash.new(true)
      @serving = {}
    end

    def start
      raise @fault if @fault

      number = @started.size + 1
      generation = Bontebok::Generation.new(Bontebok::Generation::Setup.new(number), FakeProcess.new(100 + number))
      generation.report = :report if number > 1
      generation.ordered = number > 1
      generation.rollout = @rollouts.shift if number > 1
      @started << generation
      generation
    end

    def listen(generation)
      number = generation.setup.number
      @calls << [:loaded, number]
      @listens[number]
    end

    def seconds_to_keep(_generation) = @seconds.size > 1 ? @seconds.shift : @seconds.first
    def workers_serve?(generation) = @serving[generation.setup.number]
    def take_effect(generation) = @calls << [:serves, generation.setup.number]
    def fail(generation, reason) = @calls << [:failed, generation.setup.number, reason]
    def ended(generation) = @calls << [:ended, generation.setup.number]

    # The generations that have taken effect.
    def served = @calls.filter_map { |call, number| number if call == :serves }

    # [number, reason] of the last deploy that has failed.
    def failure = @calls.select { |call,| call == :failed }.last&.drop(1)
  end

  def setup
    @server = Server.new
    @log = LogLines.new
    @generations = Bontebok::Generations.new(@server, Config.new(LIMIT), WORKERS, @log)
  end

  private

  # The generation with this number.
  def one(number) = @server.started.fetch(number - 1)

  def tick = @generations.tick

  # The master of this generation says the words.
  def hear(number, *words)
    one(number).process.says(*words)
    tick
  end

  def serve(number) = hear(number, :loaded, :ready, :whole)

  def die(number, ending = "killed by SIGKILL")
    one(number).process.ends(ending)
    tick
  end

  # The master closes its channel, and does not end.
  def desert(number)
    hear(number, :closed)
    pass_time(Bontebok::ForkedProcess::MOMENT)
    tick
  end

  def deploy
    @generations.renew
    tick
  end

  # The first generation serves, and a deploy begins.
  def begin_deploy
    @generations.go
    tick
    serve(1)
    deploy
  end

  # Keeps the first master after a deploy.
  def keep_first
    @server.seconds = [KEPT]
    begin_deploy
    serve(2)
    assert_states :kept, :serving
  end

  # Time passes. The loop runs twice.
  def wait(seconds)
    pass_time(seconds)
    2.times { tick }
  end

  def gone?(number) = one(number).state == :ended

  def assert_states(*states)
    assert_equal states, @server.started.map(&:state)
  end

  def assert_log(line)
    assert_includes @log.lines, line
  end
end
