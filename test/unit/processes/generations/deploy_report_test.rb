# frozen_string_literal: true

require "test_helper"
require_relative "../../support/generations/deploy_report_case"

# Tests how the ends of deploys and rollbacks are counted, noted and told.
class DeployReportTest < Support::TestCase
  include DeployReportCase

  def test_a_deploy_that_succeeds
    one = report
    one.succeed
    assert_deploys({ "succeeded" => 1 }, "generation 2 serves (deploy)")
    assert_equal [0, "generation 2 serves"], @client.finish_with
    assert_empty one.sources
  end

  def test_a_rollback
    back = { kind: :rollback, number: 1 }
    report(**back).succeed
    assert_deploys({ "rolled_back" => 1 }, "generation 1 serves (rollback)")
    assert_equal [0, "generation 1 serves again"], @client.finish_with
    one = report(**back)
    2.times { one.fail("the former master has ended") }
    assert_deploys({ "rolled_back" => 1, "failed" => 1 }, "generation 1 failed: the former master has ended")
    one = report(**back)
    one.supersede(REPLACED)
    one.fail("the former master has ended")
    assert_deploys({ "rolled_back" => 1, "failed" => 1, "superseded" => 1 },
                   "generation 1 is superseded: another deploy has replaced this one")
  end

  def test_the_successor_of_a_dead_master_is_no_deploy
    report(kind: :replacement).succeed
    assert_deploys({}, "generation 2 serves (in place of one that died or got a signal)")
    report(kind: :replacement, number: 3).fail(ENDED)
    assert_deploys({}, "generation 3 failed: #{ENDED}")
    report(kind: :replacement, number: 4).supersede(REPLACED)
    assert_deploys({}, "generation 4 is superseded: another deploy has replaced this one")
  end

  def test_a_deploy_that_fails_has_the_masters_error
    report(<<~LOG).fail(ENDED)
      2026-11-29T20:11:59.700Z warn 24351 - g2 a warning
      2026-11-29T20:11:59.721Z error 24351 - g2 the application cannot be loaded: it is broken
        second line (RuntimeError)
      2026-11-29T20:11:59.721Z error 24351 - g2 another error
    LOG
    assert_deploys({ "failed" => 1 }, "generation 2 failed: the application cannot be loaded: it is broken")
    assert_equal [1, ENDED], @client.finish_with
  end

  # The master may write without an end.
  def test_the_error_is_looked_for_in_the_first_bytes
    report("#{"\n" * Bontebok::DeployReport::KEPT}an error").fail(ENDED)
    assert_deploys({ "failed" => 1 }, "generation 2 failed: #{ENDED}")
  end

  def test_a_deploy_that_another_one_replaces
    one = report
    one.supersede(REPLACED)
    assert_deploys({ "superseded" => 1 }, "generation 2 is superseded: another deploy has replaced this one")
    assert_equal [1, REPLACED], @client.finish_with
    one.fail("the new master has ended")
    assert_deploys({ "superseded" => 1 }, "generation 2 is superseded: another deploy has replaced this one")
    one.succeed # the deploy that has replaced it has failed
    assert_deploys({ "superseded" => 1, "succeeded" => 1 }, "generation 2 serves (deploy)")
    assert_equal [1, REPLACED], @client.finish_with
  end

  def test_a_canary
    { 4 => "canary_bad", 5 => "canary_few" }.each do |status, result|
      report(ERROR).fail("the new master has too many errors", status: status)
      assert_deploys({ result => 1 }, "generation 2 failed: the new master has too many errors", only: result)
      assert_equal status, @client.finish_with.first
    end
  end

  # The status of the verdict counts, also if the master ends later.
  def test_the_first_reason_and_status_count
    one = report
    one.fail("the new master has too many errors", status: 4, ends: true)
    one.fail(ENDED)
    assert_deploys({ "canary_bad" => 1 }, "generation 2 failed: the new master has too many errors")
    assert_equal [4, "the new master has too many errors"], @client.finish_with
  end
end
