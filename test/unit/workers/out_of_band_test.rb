# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config"
require "bontebok/workers/out_of_band"

# Tests out-of-band work, which runs between two requests, and the number of requests until the work is due again.
class OutOfBandTest < Support::TestCase
  class Collector
    def initialize(calls) = @calls = calls
    def postpone_major = @calls << :postpone_major
    def collect = @calls << :collect
  end

  def setup
    @calls = []
    @logged = +""
  end

  def test_nothing_is_due_if_nothing_is_configured
    assert_equal 0, out_of_band.begin
    assert_empty @calls
  end

  def test_garbage_is_collected
    subject = out_of_band("oob_gc true\nmax_gc_per_request 2\n")
    assert_includes 1..2, subject.begin
    assert_equal 2, subject.run
    assert_equal %i[postpone_major collect], @calls
  end

  def test_the_hook_runs_without_a_collection
    subject = out_of_band("out_of_band { |worker| worker << :hook }\n")
    assert_includes 1..50, subject.begin
    assert_includes 38..50, subject.run
    assert_equal [:hook], @calls
  end

  def test_the_hook_comes_first_and_may_fail
    subject = out_of_band("oob_gc true\nout_of_band { raise 'no time' }\n")
    subject.begin
    assert_includes 38..50, subject.run
    assert_equal %i[postpone_major collect], @calls
    assert_match(/the hook out_of_band failed.*no time/m, @logged)
  end

  def test_the_number_of_requests_is_random
    subject = out_of_band("oob_gc true\nmax_gc_per_request 1000\n")
    assert_operator Array.new(20) { subject.begin }.uniq.size, :>, 5
    numbers = Array.new(20) { subject.run }
    assert_operator numbers.uniq.size, :>, 5
    assert(numbers.all? { |number| (750..1000).cover?(number) })
  end

  def test_without_a_turn_the_work_is_due_again_after_one_request
    subject = out_of_band("oob_gc true\nmax_gc_per_request 2\n", turns: self)
    @turn = false
    assert_equal [1, %i[take]], [subject.run, @calls]
    @turn = true
    assert_equal [2, %i[take take collect give_back]], [subject.run, @calls]
  end

  def test_a_turn_is_given_back_even_after_an_exception
    subject = out_of_band("out_of_band { raise Interrupt }\n", turns: self)
    @turn = true
    assert_raises(Interrupt) { subject.run }
    assert_equal %i[take give_back], @calls
  end

  # The test itself is the stand-in for the log.
  def error(message, cause)
    @logged << "#{message}: #{cause.message}"
  end

  # ---- stands for the turns ----

  def take
    @calls << :take
    @turn
  end

  def give_back
    @calls << :give_back
  end

  private

  def out_of_band(text = "", turns: nil)
    config = Bontebok::Config.new({ config_file: [temp_file("bontebok.rb", text)] }, env: {})
    Bontebok::OutOfBand.new(config, @calls, log: self, turns: turns, collector: Collector.new(@calls))
  end
end
