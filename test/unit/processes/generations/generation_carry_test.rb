# frozen_string_literal: true

require "test_helper"
require "json"
require "bontebok/processes/generations/generation"
require_relative "../../support/generations/generations_case"

# Tests what a supervisor passes about its masters to the program that it executes in its place (State).
class GenerationCarryTest < Support::TestCase
  include GenerationsCase

  # All versions of Bontebok read these keys.
  def test_a_generation_as_values_of_json
    serving = make(:loaded, :ready, :whole, :serve)
    serving.asks = true
    pass_time(2)
    assert_equal({ number: 1, pid: 101, progress: "whole", staying: true, leaving: false, left: nil, seconds_ready: 2,
                   asks: true, unsent: "" }, serving.carry(true))
    leaving = make(:loaded)
    leaving.leave(:retire, 10)
    pass_time(3)
    assert_equal({ number: 1, pid: 101, progress: "loaded", staying: false, leaving: true, left: 7, seconds_ready: nil,
                   asks: false, unsent: "" }, leaving.carry(false))
  end

  # The new program looks at the clock anew. State :whole is taken for :serving: both serve.
  def test_a_generation_is_the_same_in_the_new_program
    ways = { [] => :started, [:loaded] => :loaded, %i[loaded ready] => :ready, %i[loaded ready hold] => :ready,
             %i[loaded ready whole] => :serving, %i[loaded ready whole serve] => :serving,
             %i[loaded ready leave] => :leaving, %i[loaded fail] => :leaving, %i[lose] => :leaving }
    ways.each do |way, state|
      former = make(*way)
      former.process.expect(30) if former.leaving?
      one = resume(former.carry(true))
      assert_equal state, one.state, way.inspect
      assert_equal(*[former, one].map { |each| %i[loaded ready whole].map { |step| each.reached?(step) } })
      assert_equal [former.process.deadline], [one.process.deadline]
    end
  end

  def test_the_time_since_it_was_ready_and_its_wish_go_on
    former = make(:loaded, :ready)
    former.asks = true
    pass_time(2.5)
    one = resume(former.carry(true))
    pass_time(1)
    assert_equal [3.5, true], [one.seconds_ready, one.asks]
    refute resume(make.carry(true)).asks
  end

  # It reads its channel if it has loaded the application.
  def test_words_wait_only_for_one_that_loads
    { [] => [], [:loaded] => [:reopen] }.each do |way, words|
      one = resume(make(*way).carry(true))
      one.tell(:reopen)
      assert_equal words, one.process.words
    end
  end

  # The first master has ended, and the second one is not ready.
  def test_all_masters_are_carried
    begin_deploy
    hear(2, :loaded, :ready)
    carried = @generations.carry
    assert_equal([[101, false], [102, true]], carried.map { |state, _| state.values_at(:pid, :staying) })
    assert_equal([one(1), one(2)].map { |one| one.process.channel }, carried.map(&:last))
  end

  def test_the_new_program_goes_on_with_all_masters
    begin_deploy
    serve(2)
    deploy
    resumed = resume_all(@generations.carry.map(&:first))
    assert_equal({ 102 => :serving, 103 => :started, 101 => :leaving }, resumed.all.to_h { |one| [one.pid, one.state] })
    assert_equal [7], resumed.all.map { |one| one.setup.number }.uniq
    resumed.all[1].process.says(:loaded)
    resumed.tick
    assert_equal([[:serving], [:go], []], resumed.all.map { |one| one.process.words })
  end

  # A word that did not fit into the socket is sent by the new program.
  def test_unsent_words_go_on
    @generations.go
    tick
    carried = @generations.carry.map(&:first)
    carried.first[:unsent] = "g"
    resume_all(carried)
    assert_equal "g", @channels.first.bytes
  end

  private

  # A channel that the new program has inherited.
  Line = Struct.new(:bytes) do
    def send_later(bytes) = self.bytes = bytes
  end

  def resume_all(states)
    @channels = states.map { Line.new }
    resumed = Bontebok::Generations.new(@server, Config.new(LIMIT), WORKERS, @log)
    processes = states.map { |state| FakeProcess.new(state.fetch(:pid)) }
    Bontebok::ForkedProcess.stub(:new, ->(*) { processes.shift }) do
      resumed.restore(JSON.parse(JSON.generate(states)).zip(@channels), Bontebok::Generation::Setup.new(7))
    end
    resumed
  end

  def make(*events)
    Bontebok::Generation.new(Bontebok::Generation::Setup.new(1), FakeProcess.new(101)).tap do |one|
      events.each { |event| event == :loaded ? one.load : one.change(event) }
    end
  end

  def resume(carried)
    Bontebok::Generation.new(Bontebok::Generation::Setup.new(1), FakeProcess.new(101)).tap do |one|
      one.restore(JSON.parse(JSON.generate(carried)))
    end
  end
end
