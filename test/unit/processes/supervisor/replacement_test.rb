# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require_relative "../../support/log_case"
require "bontebok/processes/supervisor/replacement"

# Tests when the supervisor refuses to be replaced, and what a trial leaves behind that cannot begin.
class ReplacementTest < Support::TestCase
  include LogCase

  Account = Struct.new(:change?)
  Config = Struct.new(:account)
  Serving = Struct.new(:config)
  Deploys = Struct.new(:serving, :number, :loaded?)
  Orders = Struct.new(:busy?)
  Flags = Struct.new(:begun?, :starting?)
  # A ControlClient.
  Client = Struct.new(:status, :text) do
    def finish(*result) = (self.status, self.text = result)
  end

  def setup
    super
    @flags = Flags.new(false, false)
    @client = Client.new
  end

  def test_reasons_not_to_begin
    assert_equal [1, "the server stops"], refused(stops: true)
    assert_equal [1, Bontebok::Supervisor::DeployOrders::LOADED], refused(loaded: true)
    assert_equal [3, "busy: a master or a supervisor starts already"], refused(busy: true)
    assert_equal [3, "busy: another server starts beside this one"], refused(another: true)
  end

  # Meanwhile Ruby may close the descriptors of former tests.
  def test_a_trial_that_cannot_be_forked_leaves_no_descriptor
    open = Support::ProcessTable.descriptors(Process.pid)
    Bontebok::ForkedProcess.stub(:fork, proc { raise Errno::EAGAIN }) do
      assert_raises(Errno::EAGAIN) { replacement.begin(@client) }
    end
    assert_empty Support::ProcessTable.descriptors(Process.pid).to_a - open.to_a
  end

  def test_without_a_trial_there_is_nothing_to_do
    subject = replacement
    subject.tick
    subject.fail("the server stops")
    assert_equal [[], nil, nil], [subject.sources, subject.deadline, subject.trial]
  end

  private

  def refused(stops: false, loaded: false, busy: false, another: false)
    @flags = Flags.new(stops, another)
    replacement(loaded: loaded, busy: busy).begin(@client)
    @client.to_a
  end

  def replacement(loaded: false, busy: false)
    deploys = Deploys.new(Serving.new(Config.new(Account.new(false))), 1, loaded)
    state = Bontebok::Supervisor::State.of("masters" => [])
    Bontebok::Supervisor::Replacement.new(nil, deploys, nil, Orders.new(busy), stop: @flags, arrivals: @flags,
                                                                               service: nil, log: @log) { state }
  end
end
