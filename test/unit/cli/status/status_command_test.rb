# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/cli/status/intervals"
require "bontebok/cli/status/status_command"
require_relative "../../support/status_case"

# Which two looks `bontebok status --follow` compares. The looks are those of the test, and no time passes.
class StatusCommandTest < Minitest::Test
  include StatusCase

  # As ObservedServer and Observation.
  Server = Struct.new(:stale?, :answered?, :close)
  Look = Struct.new(:snapshot, :source, :fingerprint)
  SOURCE = [[1, 7]].freeze

  def test_a_look_is_compared_with_the_one_before
    assert_equal [nil, 100.0, 50.0], rates(look(0, 0), look(1, 100), look(3, 200))
    assert_equal Bontebok::ObservedWorkers::PROGRAM, @seconds # a screen has less time
  end

  # Its totals are 0, and the next look would have all responses since the start of the server.
  def test_a_look_whose_totals_were_not_read_is_compared_with_none
    assert_equal [nil, nil, nil, 50.0], rates(look(0, 900), look(1, 0, []), look(2, 1000), look(3, 1050))
    assert_equal [nil, nil], rates(look(0, 0, []), look(1, 0, []))
  end

  # The durations of two servers would be compared.
  def test_the_looks_at_two_servers_are_not_compared
    assert_equal [nil, nil, 5.0], rates(look(0, 900), look(1, 5, [[1, 8]]), look(2, 10, [[1, 8]]))
  end

  # The terminal has changed its size just after a look. The kernel counts CPU time in steps of 10 ms.
  def test_rates_of_a_few_milliseconds_are_not_shown
    assert_equal [nil, nil, 100.0, 100.0, 100.0, 100.0],
                 rates(look(0, 0), look(0.01, 50), look(1, 100), look(1.01, 101), look(1.3, 130), look(2, 200))
  end

  private

  # Returns the column responses_per_second of each look.
  def rates(*looks)
    count = looks.size
    out = capture_io do
      Bontebok::Intervals.stub(:each, ->(*, &block) { count.times(&block) }) { follow(looks) }
    end.first
    header, *rows = out.lines(chomp: true).map { |line| line.split(",", -1) }
    rows.map { |row| header.zip(row).to_h["responses_per_second"] }.map { |text| text.to_f unless text.empty? }
  end

  def follow(looks)
    Bontebok::ObservedServer.stub(:new, Server.new(false, true)) do
      Bontebok::Observation.stub(:new, ->(_, seconds) { (@seconds = seconds) && looks.shift }) do
        Bontebok::StatusCommand.new("csv", follow: true).run
      end
    end
  end

  def look(seconds, responses, source = SOURCE)
    Look.new(snapshot(at: 1000.0 + seconds, totals: totals(responses: { "2xx" => responses })), source, 1)
  end
end
