# frozen_string_literal: true

require "test_helper"
require_relative "../../conform/support/sus_report"

class SusReportTest < Minitest::Test
  CHUNKS = "\tℹ Received 10 chunks: streaming supported.\n"
  PASSED = "11 passed out of 11 total (23 assertions)\n"
  MISSING = "\t\tℹ Streaming hijack not supported!\n"

  def test_all_tests_passed
    report = Conform::SusReport.new(CHUNKS + PASSED, true)
    assert_predicate report, :passed?
    assert_equal "rack-conform: all 11 tests passed", report.verdict
    assert_equal PASSED, report.closing_lines
  end

  def test_a_failed_test
    text = "10 passed 1 errored out of 11 total (21 assertions)\n\nErrored assertions:\n"
    report = Conform::SusReport.new(text, false)
    refute_predicate report, :passed?
    assert_equal "rack-conform: tests failed", report.verdict
    assert_equal text, report.closing_lines
  end

  def test_a_skipped_test_is_a_fault
    report = Conform::SusReport.new("10 passed 1 skipped out of 11 total (21 assertions)\n", true)
    refute_predicate report, :passed?
    assert_equal "rack-conform: 1 skipped", report.verdict
  end

  def test_a_missing_feature_is_a_fault
    report = Conform::SusReport.new(MISSING + PASSED, true)
    refute_predicate report, :passed?
    assert_equal "rack-conform: Streaming hijack not supported!", report.verdict
  end

  def test_a_suite_that_does_not_start
    report = Conform::SusReport.new("cannot load such file\n", true)
    refute_predicate report, :passed?
    assert_equal "rack-conform: the suite ran no test", report.verdict
    assert_equal "cannot load such file\n", report.closing_lines
  end
end
