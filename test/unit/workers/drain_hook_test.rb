# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "bontebok/config/hooks"
require "bontebok/log/log"
require "bontebok/workers/drain_hook"

# Tests the hook before_worker_drain when the process has no room for its thread.
class DrainHookTest < Support::TestCase
  def test_without_a_thread_the_hook_does_not_run_and_nobody_waits_for_it
    file = File.join(temp_dir, "log")
    hooks = Bontebok::Hooks.new
    hooks.add(:before_worker_drain, ->(_) { raise "the hook runs" })
    File.open(file, "w") do |log|
      hook = Bontebok::DrainHook.new(hooks, nil, log: Bontebok::Log.new(log))
      Thread.stub(:new, -> { raise ThreadError, "no room" }) { hook.run { flunk } }
      hook.run { flunk } # A second order to end does not run it, either.
      refute_predicate hook, :running?
    end
    assert_match(/\A\S+ error .* the hook before_worker_drain cannot run: no room \(ThreadError\)$/, File.read(file))
    refute_match(/the hook runs/, File.read(file))
  end
end
