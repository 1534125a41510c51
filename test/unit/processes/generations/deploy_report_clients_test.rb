# frozen_string_literal: true

require "test_helper"
require_relative "../../support/generations/deploy_report_case"

# Tests what the log and the clients of the control socket get while a deploy goes on, and when they get its end.
class DeployReportClientsTest < Support::TestCase
  include DeployReportCase

  # --- the master still writes ---

  # The master is about to end, and its error comes before the end of the pipe.
  def test_an_error_that_comes_late
    one = report
    one.fail("the new master has failed before it was ready", ends: true)
    assert_deploys({})
    assert_nil @client.finish_with
    @writer.write(ERROR)
    2.times { one.fail(ENDED) }
    assert_deploys({ "failed" => 1 }, "generation 2 failed: it is broken")
    assert_equal [[ERROR], [1, "the new master has failed before it was ready"]],
                 [@client.heard, @client.finish_with]
  end

  def test_clients_get_the_end_at_the_end_of_the_pipe
    one = report
    one.fail("the new master has failed before it was ready", ends: true)
    @writer.write(ERROR)
    one.take
    assert_equal [[ERROR], nil], [@client.heard, @client.finish_with]
    @writer.close
    one.take
    assert_equal [1, "the new master has failed before it was ready"], @client.finish_with
    assert_empty one.sources
  end

  def test_without_an_error_the_first_reason_is_noted
    one = report
    one.fail("the new master did not get its workers ready", ends: true)
    one.fail(ENDED)
    assert_deploys({ "failed" => 1 }, "generation 2 failed: the new master did not get its workers ready")
  end

  # The pipe has ended before, so nothing more will come.
  def test_a_master_that_ends_and_has_closed_its_pipe
    one = report
    @writer.close
    one.take
    one.fail(ENDED, ends: true)
    assert_equal [1, ENDED], @client.finish_with
  end

  # --- what the master writes ---

  def test_the_log_gets_the_text_until_the_master_writes_to_the_log_itself
    one = report("before\n")
    one.take
    one.master_logs
    @writer.write("after\n")
    one.take
    assert_equal [["before\n"], %W[before\n after\n]], [@log.lines, @client.heard]
  end

  # The supervisor has other work.
  def test_a_call_reads_a_part_of_much_text
    one = report("x" * 60_000)
    2.times { one.take }
    one.master_logs
    @writer.write("y" * 65_536)
    one.take
    assert_equal Bontebok::DeployReport::MOST * Bontebok::DeployReport::BYTES, @client.heard.join.count("y")
    assert_equal [@pipes[-2]], one.sources
  end

  # --- clients ---

  def test_the_clients_that_wait
    one = report(client: [@client, other = Client.new])
    one.say("a table")
    assert_equal [["a table"]] * 2, [@client, other].map(&:heard)
    @client.leave
    assert_same other, one.client
    other.leave
    assert_nil one.client
  end

  # Another program of the supervisor takes its place, or not (Replacement).
  def test_the_end_of_a_trial_is_told_and_not_noted
    one = report(kind: :trial)
    one.finish(3, "busy")
    assert_deploys({})
    assert_equal [[3, "busy"], false], [@client.finish_with, one.unheard?]
  end

  def test_a_deploy_is_unheard_if_nobody_waits_and_it_goes_on
    refute_predicate report, :unheard?
    one = report(client: [])
    assert_predicate one, :unheard?
    one.supersede(REPLACED)
    assert_predicate one, :unheard?
    one.fail(ENDED)
    refute_predicate one, :unheard?
    %i[rollback replacement trial].each { |kind| refute_predicate report(kind: kind, client: []), :unheard? }
  end

  def test_the_master_in_messages
    names = %i[deploy replacement rollback].map { |kind| report(kind: kind).master }
    assert_equal ["the new master", "the new master", "the former master"], names
  end
end
