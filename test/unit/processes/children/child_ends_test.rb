# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/children"
require "bontebok/sockets/shared/totals"
require_relative "../../support/workers/fake_worker"

# Tests what the totals learn about the end of a worker.
class ChildEndsTest < Support::TestCase
  Child = Bontebok::Children::Child

  def test_a_worker_that_ends_by_itself
    assert_end "crashed", "exit status 1", [:exit, 1]
    assert_end "crashed", "exit status 0", [:exit, 0]
    assert_end "killed", "killed by SIGKILL", %i[die KILL]
    assert_end "failed", "exit status 1, before it was ready", [:exit, 1], step: :loaded
    assert_end "crashed", "exit status 1", [:exit, 1], told: true
  end

  def test_a_worker_that_has_asked_to_be_replaced
    { max_requests: "max_requests is reached", max_worker_age: "max_worker_age is reached",
      max_worker_memory: "max_worker_memory is exceeded", descriptors: "no descriptors are left" }.each do |cause, text|
      assert_end "limit", text, [:exit, 0], cause: cause, told: true
    end
    assert_end "asked", "a signal has asked it to end", [:exit, 0], cause: :signal, told: true
    assert_end "application", "the application has ended it", [:exit, 0], cause: :application, told: true
    assert_end "application", "the application has ended it: exit status 1", [:exit, 1], cause: :application, told: true
  end

  def test_a_worker_that_was_killed
    fault = "has not moved for 60 s, with these requests: GET /x"
    assert_end "hung", "worker_timeout: #{fault}", [:kill, fault], cause: :worker_timeout
    fault = "has only requests that hang"
    assert_end "timeout", "request_timeout: #{fault}", [:kill, fault], cause: :request_timeout, told: true
    fault = "did not end within 30 s"
    assert_end "late", fault, [:kill, fault], cause: :max_requests, told: true
    fault = "did not become ready within 9 s"
    assert_end "failed", fault, [:kill, fault], step: :started
  end

  def test_a_worker_that_has_closed_its_channel
    text = "it has closed its channel, or has executed another program"
    assert_end "application", text, [:exit, 0], cause: :lost, told: true
    assert_end "application", "#{text}: did not end within 30 s",
               [:kill, "did not end within 30 s"], cause: :lost, told: true
    assert_end "failed", "exit status 0, before it was ready", [:exit, 0], cause: :lost, told: true, step: :started
    assert_end "crashed", "killed by SIGSEGV", %i[die SEGV], cause: :lost, told: true
  end

  def test_what_was_asked_for
    assert_end "asked", "restart-workers", [:exit, 0], cause: :restart, told: true
    assert_end "asked", "fewer workers are wanted", [:vanish], cause: :fewer, told: true
    assert_end "asked", "restart-workers", %i[die TERM], cause: :restart, told: true, step: :started
    assert_end "asked", nil, [:exit, 0], told: true
  end

  # The words of a worker, the reasons, and their table are in three files.
  def test_each_word_of_a_worker_has_a_text
    assert_equal Child::WORDS, Child::WORDS & Bontebok::Channel::BYTES.keys & Child::CAUSES.keys
    assert_empty Child::CAUSES.values.map(&:first) - Bontebok::Totals::ENDS.keys
  end

  private

  # way: how it ends, or :kill, by its parent. step: that it has reached. told: it was told to end.
  def assert_end(reason, text, way, step: :ready, cause: nil, told: false)
    process = FakeWorker.new(3, 4711)
    child = Child.new(3, process)
    child.reached(step) unless step == :started
    child.blame(cause) if cause
    child.leave(:retire, 1) if told
    (way.first == :kill ? child : process).public_send(*way)
    child.check
    assert_equal [reason, text], child.reason_of_end
  end
end
