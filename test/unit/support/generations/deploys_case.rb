# frozen_string_literal: true

require "minitest/mock"
require "bontebok/bontebok"
require "bontebok/config/config"
require "bontebok/processes/deploys"
require "bontebok/sockets/shared/totals"
require_relative "deploy_report_case"
require_relative "fake_listeners"
require_relative "fake_process"
require_relative "log_lines"

# For tests of Deploys: nothing is forked, and the test makes the generations.
module DeploysCase
  include FakeListeners::Parts

  Client = DeployReportCase::Client

  # The options that Deploys and Rollout read.
  Config = Struct.new(:workers, :surge, :keep) do
    def [](key) = { deploy_surge: surge }.fetch(key)
    def seconds(key) = { keep_former: keep, err_respawn_interval: 1 }.fetch(key)
    def auto_workers? = false
    def account = nil
  end

  # In place of AdoptedWorkers, Control and Stop.
  Parts = Struct.new(:heard, :path, :announced?) do
    def take = heard << :ended
  end

  # In place of Generations. calls: the commands.
  class Generations
    attr_reader :all, :calls
    attr_accessor :kept, :workers, :whole

    def initialize(workers)
      @workers = workers
      @all = []
      @calls = []
      @whole = true
    end

    def whole? = @whole
    def add(generation) = generation.tap { @all << generation }
    def under_way = @all.select(&:under_way?)
    def release = @calls << :release
    def renew = @calls << :renew

    def roll_back
      @all << @kept
      @kept
    end
  end

  def setup
    @log = LogLines.new
    @totals = Bontebok::Totals.open
    @links = Links.new([], @totals, [])
    @config = Config.new(4, 0, 900)
    @listeners = listeners(:a, :b)
    @serving = Bontebok::Generation::Setup.new(1, "1", @config, @listeners)
    @generations = Generations.new(4)
    @parts = Parts.new(@heard = [])
    @forks = []
    @opened = []
    @deploys = deploys
    @client = Client.new
  end

  def teardown
    @generations.all.each { |one| [*one.start, *one.report].each(&:close) }
    [@totals, *@opened].each(&:close)
    super
  end

  private

  def deploys(number = 1, release: nil)
    made = Bontebok::Deploys.new(@serving, number, @parts, control: @parts, stop: @parts, log: @log, release: release,
                                                           life_line: nil, descriptors: -> { [:own] }) do |one|
      @heard << one
    end
    made.tap { made.generations = @generations }
  end

  def listeners(*addresses) = FakeListeners.new(addresses, @links)

  # Calls Deploys#start. @master: the master's end of the handshake. @stderr: its standard error. fault: of the fork.
  def start(fault: nil)
    pair = Bontebok::Handshake.pair
    pipe = IO.pipe
    @opened.push(@master = Bontebok::Handshake.new(pair.last.to_io.dup), @stderr = pipe.last.dup)
    fork = lambda do |to_close: []|
      @forks << to_close
      fault ? raise(fault) : FakeProcess.new(100 + @deploys.number)
    end
    Bontebok::Handshake.stub(:pair, pair) do
      IO.stub(:pipe, pipe) { Bontebok::ForkedProcess.stub(:fork, fork) { @generations.add(@deploys.start) } }
    end
  end

  def begin_deploy(clients: [@client], canary: nil)
    @deploys.deploy(clients: clients, canary: canary)
    start
  end

  # The master has sent its configuration.
  def configure(generation, config: @config, listeners: @listeners)
    generation.setup.config = config
    generation.setup.listeners = listeners
    generation.process.loaded
  end

  def rollout(count)
    Struct.new(:failure) { define_method(:count) { |_| count } }.new
  end

  # The last note about a deploy.
  def note = @totals.memories.first.notes(:deploy).last&.last

  def assert_log(line)
    assert_includes @log.lines, line
  end
end
