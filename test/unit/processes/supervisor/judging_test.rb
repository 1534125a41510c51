# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/supervisor/judging"

# Tests how the supervisor acts on the verdict about a new generation.
class SupervisorJudgingTest < Support::TestCase
  Child = Struct.new(:pid) do
    def leaving? = false
  end
  Masters = Struct.new(:taken_back) do
    def on_trial?(_child) = true
    def take_back(child, reason) = self.taken_back = [child, reason]
  end
  Log = Struct.new(:last) do
    def error(*args) = self.last = args
  end
  # The verdict is an error.
  class Deploy
    def judge = Math.log(-1)
  end

  # The part of Supervisor.
  class Judge
    include Bontebok::Supervisor::Judging

    def initialize(masters, log, deploys)
      @masters = masters
      @log = log
      @deploys = deploys
    end

    public :judge_canaries
  end

  def test_an_error_takes_the_deploy_back
    child = Child.new(1)
    masters = Masters.new
    log = Log.new
    Judge.new(masters, log, { child => Deploy.new }).judge_canaries
    assert_equal [child, "cannot be judged"], masters.taken_back
    assert_equal ["the canary cannot be judged", Math::DomainError], [log.last[0], log.last[1].class]
  end
end
