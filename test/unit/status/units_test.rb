# frozen_string_literal: true

require "test_helper"
require "bontebok/status/units"
require_relative "../support/status_case"

class UnitsTest < Minitest::Test
  Units = Bontebok::Status::Units

  def test_durations
    { nil => "-", 0.0 => "0 ms", 1e-9 => "0 ms", 0.000037 => "0.037 ms", 0.0012 => "1.2 ms", 0.00996 => "10 ms",
      0.25 => "250 ms", 1 => "1.0 s", 11.54 => "11.5 s", 100.0 => "100 s", 480 => "8 min", 90_000 => "25 h",
      259_200.5 => "3 days" }.each { |seconds, text| assert_equal text, Units.duration(seconds), seconds.inspect }
  end

  def test_rounding_changes_no_unit
    { 0.9994 => "999 ms", 0.9996 => "1.0 s", 99.94 => "99.9 s", 99.97 => "99 s", 0.009949 => "9.9 ms" }
      .each { |seconds, text| assert_equal text, Units.duration(seconds) }
    { 9.94 => "9.9", 9.96 => "10", 0.099 => "<0.1" }.each { |rate, text| assert_equal text, Units.rate(rate) }
    { (9.96 * (1 << 20)).to_i => "10 MB", (9999.7 * (1 << 20)).to_i => "9.8 GB" }
      .each { |bytes, text| assert_equal text, Units.memory(bytes) }
    { 0.0994 => "9.9 %", 0.0996 => "10 %" }.each { |share, text| assert_equal text, Units.percent(share) }
  end

  def test_ages_are_rounded_down
    { nil => "-", 11.9 => "11 s", 119.9 => "119 s", 120 => "2 min", 7199 => "119 min", 7200 => "2 h",
      172_799 => "47 h", 172_800 => "2 days" }.each { |seconds, text| assert_equal text, Units.age(seconds) }
  end

  def test_rates
    { nil => "-", 0.0 => "0", 0.01 => "<0.1", 0.5 => "0.5", 9.94 => "9.9", 1234.6 => "1235" }
      .each { |rate, text| assert_equal text, Units.rate(rate) }
  end

  def test_memory
    { nil => "-", 0 => "0.0 MB", 5 << 19 => "2.5 MB", 98 << 20 => "98 MB", 9999 << 20 => "9999 MB", 40 << 30 => "40 GB",
      (2**64) - 1 => "16 EB" }.each { |bytes, text| assert_equal text, Units.memory(bytes) }
  end

  def test_percent
    { nil => "-", 0.003 => "0.3 %", 0.0 => "0.0 %", 0.954 => "95 %" }
      .each { |share, text| assert_equal text, Units.percent(share) }
  end

  def test_a_time_has_its_date_on_another_day
    now = StatusCase::NOW
    assert_equal(["03:10", "2026-11-28 03:10", "?"],
                 [now, now - 86_400, nil].map { |time| Units.clock(time, now, "UTC") })
  end
end
