# frozen_string_literal: true

require "test_helper"
require "bontebok/bontebok"
require "bontebok/log/log"
require "bontebok/processes/deploy"
require "bontebok/processes/rollback"

# Tests how the ends of deploys are counted and noted.
class DeployEndNoteTest < Support::TestCase
  Listeners = Struct.new(:worker_links) do
    def discard = nil
  end
  Links = Struct.new(:totals)
  Handshake = Struct.new(:to_io) do
    def close = nil
  end

  def setup
    @totals = Bontebok::Totals.open
    @listeners = Listeners.new(Links.new(@totals))
    @opened = []
  end

  def teardown
    [@totals, *@opened].each(&:close)
    super
  end

  def test_a_deploy_that_succeeds
    deploy(2).succeed
    assert_deploys({ "succeeded" => 1 }, "generation 2 serves (deploy)")
  end

  def test_the_successor_of_a_dead_master_is_no_deploy
    deploy(2, ordered: false).succeed
    assert_deploys({}, "generation 2 serves (the former master has died)")
    deploy(3, ordered: false).discard("the new master has ended: exit status 1")
    assert_deploys({}, "generation 3 failed: the new master has ended: exit status 1")
    deploy(4, ordered: false).supersede("another deploy has replaced this one")
    assert_deploys({}, "generation 4 is superseded: another deploy has replaced this one")
  end

  def test_a_deploy_that_fails_has_the_masters_error
    deploy(2, <<~LOG).discard("the new master has ended: exit status 1")
      2026-11-29T20:11:59.700Z warn 24351 - g2 a warning
      2026-11-29T20:11:59.721Z error 24351 - g2 the application cannot be loaded: it is broken
        second line (RuntimeError)
      2026-11-29T20:11:59.721Z error 24351 - g2 another error
    LOG
    assert_deploys({ "failed" => 1 }, "generation 2 failed: the application cannot be loaded: it is broken")
  end

  # Deploy#fail is called before the master has written its error, and Deploy#discard when it has ended.
  def test_an_error_that_comes_late
    failed = deploy(2)
    failed.fail("the new master has failed before it was ready", ends: true)
    assert_deploys({})
    @writer.write("2026-11-29T20:11:59.721Z error 24351 - g2 it is broken\n")
    2.times { failed.discard("the new master has ended: exit status 1") }
    assert_deploys({ "failed" => 1 }, "generation 2 failed: it is broken")
  end

  def test_without_an_error_the_first_reason_is_noted
    failed = deploy(2)
    failed.fail("the new master did not get its workers ready", ends: true)
    failed.discard("the new master has ended: exit status 1")
    assert_deploys({ "failed" => 1 }, "generation 2 failed: the new master did not get its workers ready")
  end

  def test_a_canary
    { 4 => "canary_bad", 5 => "canary_few" }.each do |status, result|
      failed = deploy(2, "2026-11-29T20:11:59.721Z error 24351 - g2 an error\n")
      failed.instance_variable_set(:@failure, status)
      failed.fail("the new master has too many errors")
      assert_deploys({ result => 1 }, "generation 2 failed: the new master has too many errors", only: result)
    end
  end

  def test_a_deploy_that_another_one_replaces
    superseded = deploy(2)
    superseded.supersede("another deploy has replaced this one")
    assert_deploys({ "superseded" => 1 }, "generation 2 is superseded: another deploy has replaced this one")
    superseded.fail("the new master has ended")
    assert_deploys({ "superseded" => 1 }, "generation 2 is superseded: another deploy has replaced this one")
    superseded.succeed # the deploy that has replaced it has failed
    assert_deploys({ "superseded" => 1, "succeeded" => 1 }, "generation 2 serves (deploy)")
  end

  def test_a_rollback
    Bontebok::Rollback.new(1, nil, @listeners, nil, 1, []).succeed
    assert_deploys({ "rolled_back" => 1 }, "generation 1 serves (rollback)")
    rollback = Bontebok::Rollback.new(1, nil, @listeners, nil, 1, [])
    2.times { rollback.discard("the former master has ended") }
    assert_deploys({ "rolled_back" => 1, "failed" => 1 }, "generation 1 failed: the former master has ended")
    rollback = Bontebok::Rollback.new(1, nil, @listeners, nil, 1, [])
    rollback.supersede("another deploy has replaced this one")
    rollback.fail("the former master has ended")
    assert_deploys({ "rolled_back" => 1, "failed" => 1, "superseded" => 1 },
                   "generation 1 is superseded: another deploy has replaced this one")
  end

  def test_the_first_error
    json = '{"time":"x","level":"error","message":"cannot be loaded","exception":{"message":"it is\nbroken"}}'
    { "#{json.sub('error', 'warn')}\n#{json}\n" => "cannot be loaded: it is",
      "{\"time\":\"x\",\"level\":\"error\",nonsense}\n" => nil,
      '{"level":"error","exception":"of the application"}' => '{"level":"error","exception":"of the application"}',
      '{"level":"error","message":"x","exception":[1]}' => "x",
      '{"level":"error","message":"failed","exception":{"message":{"a":1}}}' => "failed",
      "\n2026-11-29T20:11:59.7Z info 1 - g2 x\n/bin/ruby: no such file\nmore\n" => "/bin/ruby: no such file",
      "\xFF\xFE" => "??", "" => nil, "x" * 100_000 => "x" * Bontebok::Deploy::FirstError::MOST }.each do |text, line|
      error = Bontebok::Deploy::FirstError.new
      text.b.scan(/.{1,1000}/m) { |part| error.add(part) }
      assert_equal [line], [error.line], text[0, 100]
    end
  end

  private

  def deploy(number, text = "", ordered: true)
    reader, @writer, _, logged = pipes = Array.new(2) { IO.pipe }.flatten
    @writer.write(text)
    @opened.concat(pipes)
    log = Bontebok::Log.new(logged)
    report = Bontebok::DeployReport.new(reader, [], log, ordered: ordered)
    Bontebok::Deploy.new(number, nil, @listeners, Handshake.new(reader), report)
  end

  def assert_deploys(counts, text = nil, only: "")
    metrics = @totals.memories.first
    found = metrics.totals[:names].transform_keys { |name| name.delete_prefix("deploy ") }
    assert_equal(counts, found.select { |name, _| name.include?(only) })
    assert_equal [text], [metrics.notes(:deploy).last&.last]
  end
end
