# frozen_string_literal: true

require "test_helper"
require_relative "../support/generations/deploys_case"

# Tests what Deploys does when a master has loaded the application, takes effect and fails.
class DeploysEffectTest < Support::TestCase
  include DeploysCase

  # --- the master has loaded the application ---

  def test_the_new_listeners_listen_and_the_master_hears_whether_the_server_will_stop
    { nil => :recall, true => :announce }.each do |announces, word|
      @parts[:announced?] = announces
      one = begin_deploy
      configure(one)
      assert @deploys.listen(one)
      assert_equal [:listen, [word]], [@listeners.steps.last, one.process.words]
    end
  end

  def test_a_deploy_whose_listeners_cannot_listen
    one = begin_deploy
    refute @deploys.listen(one)
    assert_log "error the new master has sent no configuration"
    configure(one)
    @listeners.fault = Bontebok::StartError.new("cannot listen on /x")
    refute @deploys.listen(one)
    assert_log "error cannot listen on /x"
    assert_empty one.process.words
  end

  # --- the former master stays loaded ---

  def test_the_seconds_for_which_the_former_master_stays
    one = begin_deploy
    configure(one, listeners: listeners(:b, :a, :c), config: Config.new(4, 0, 60))
    assert_equal 60, @deploys.seconds_to_keep(one)
    configure(one, listeners: listeners(:b))
    assert_equal 0, @deploys.seconds_to_keep(one), "it would keep the address"
    configure(one)
    begin_deploy
    assert_equal 0, @deploys.seconds_to_keep(one), "the former one never took effect"
    one.report = nil
    assert_equal 0, @deploys.seconds_to_keep(one), "nobody has deployed"
  end

  def test_the_workers_of_a_master_serve
    one = generation
    @links.serving = [7, 8]
    Bontebok::StatLine.stub(:parent_of, { 7 => 1, 8 => one.pid }.to_proc) { assert @deploys.workers_serve?(one) }
    Bontebok::StatLine.stub(:parent_of, 1) { refute @deploys.workers_serve?(one) }
  end

  # --- a generation takes effect ---

  # The supervisor follows when all else is done.
  def test_a_deploy_takes_effect
    one = begin_deploy
    configure(one, listeners: next_ones = listeners(:a))
    one.rollout = rollout(6)
    one.told = 5
    @deploys.take_effect(one)
    assert_equal [one.setup, 6, 6], [@deploys.serving, @generations.workers, one.told]
    assert_equal [[:take_effect], [one], [:more]], [next_ones.steps, @heard, one.process.words]
    assert_equal [[0, "generation 2 serves"], "generation 2 serves (deploy)"], [@client.finish_with, note]
  end

  # It has the workers that it had before.
  def test_a_rollback_takes_effect
    @generations.kept = kept = generation
    kept.process.loaded
    %i[loaded ready whole].each { |event| kept.change(event) }
    kept.keep(3)
    @deploys.roll_back([@client])
    @deploys.take_effect(kept)
    assert_equal [kept.setup, 3], [@deploys.serving, @generations.workers]
    assert_equal [0, "generation 1 serves again"], @client.finish_with
  end

  # --- a deploy fails ---

  def test_a_deploy_fails
    one = begin_deploy
    configure(one)
    @deploys.fail(one, "cannot listen")
    assert_equal [[1, "the new master cannot listen"], [:discard]], [@client.finish_with, @listeners.steps]
    assert_equal "generation 2 failed: the new master cannot listen", note
    @deploys.fail(generation, "has no report")
  end

  def test_the_status_is_that_of_the_verdict
    one = begin_deploy(clients: [@client])
    @parts.path = "/run/control"
    one.rollout = rollout(4)
    one.rollout.failure = 5
    @deploys.fail(one, "got fewer")
    assert_equal [[5, "the new master got fewer"], []], [@client.finish_with, @log.lines]
  end

  # A master that closes its channel is about to end, and may still write why.
  def test_a_master_that_may_still_write
    one = begin_deploy
    one.process.says(:closed)
    one.process.hear
    @deploys.fail(one, "has failed before it was ready")
    assert_equal [nil, nil], [@client.finish_with, note]
    @stderr.write("why\n")
    @deploys.hear
    assert_equal [["why\n"], nil], [@client.heard, @client.finish_with]
    @stderr.close
    @deploys.hear
    assert_equal [1, "the new master has failed before it was ready"], @client.finish_with
  end

  # A signal and a touched file give no answer.
  def test_the_log_names_the_command_that_shows_the_error
    line = "info `bontebok deploy --wait --control /run/control` also prints the error"
    [[nil, []], ["/run/control", [line]]].each do |path, lines|
      @parts.path = path
      @deploys.fail(begin_deploy(clients: []), "cannot listen")
      assert_equal lines, @log.lines
    end
    @deploys.fail(begin_deploy(clients: [Client.new]), "cannot listen")
    assert_equal [line], @log.lines
  end

  private

  def generation = Bontebok::Generation.new(@serving, FakeProcess.new(101))
end
