# frozen_string_literal: true

require "test_helper"
require "bontebok/bontebok"
require "bontebok/processes/children"
require "bontebok/sockets/shared/totals"

# Tests how the ends of workers are counted and noted.
class ChildrenEndNotesTest < Support::TestCase
  # The part of Child that EndNotes uses. on: the predicates that are true.
  Child = Struct.new(:on, :cause, :fault, :ending, :status, keyword_init: true) do
    def number = 3
    def pid = 4711
    def reached?(step) = on.include?(step)

    %i[killed hung leaving ended_by_user].each { |name| define_method(:"#{name}?") { on.include?(name) } }
  end

  STATUSES = [0, 1].to_h { |code| [code, Process.spawn("exit #{code}").then { |pid| Process.wait2(pid).last }] }.freeze
  SERVED = %i[ready loaded].freeze
  TOLD = [*SERVED, :leaving].freeze

  def setup
    @totals = Bontebok::Totals.open
    @notes = Bontebok::Children::EndNotes.new(@totals, 2)
  end

  def teardown
    @totals.close
    super
  end

  def test_a_worker_that_ends_by_itself
    assert_end "crashed", "exit status 1", on: SERVED, ending: "exit status 1", status: STATUSES[1]
    assert_end "crashed", "exit status 0", on: SERVED, ending: "exit status 0", status: STATUSES[0]
    assert_end "killed", "killed by SIGKILL", on: [*SERVED, :ended_by_user], ending: "killed by SIGKILL"
    assert_end "failed", "exit status 1, before it was ready", on: [], ending: "exit status 1", status: STATUSES[1]
    assert_end "crashed", "exit status 1", on: TOLD, ending: "exit status 1", status: STATUSES[1]
  end

  def test_a_worker_that_has_asked_to_be_replaced
    { max_requests: "max_requests is reached", max_worker_age: "max_worker_age is reached",
      max_worker_memory: "max_worker_memory is exceeded", descriptors: "no descriptors are left" }.each do |cause, text|
      assert_end "limit", text, on: TOLD, cause: cause, status: STATUSES[0]
    end
    assert_end "asked", "a signal has asked it to end", on: TOLD, cause: :signal, status: STATUSES[0]
    assert_end "application", "the application has ended it", on: TOLD, cause: :application, status: STATUSES[0]
    assert_end "application", "the application has ended it: exit status 1",
               on: TOLD, cause: :application, status: STATUSES[1], ending: "exit status 1"
  end

  def test_a_worker_that_was_killed
    fault = "has not moved for 60 s, with these requests: GET /x"
    assert_end "hung", "worker_timeout: #{fault}", on: [*SERVED, :killed, :hung], cause: :worker_timeout, fault: fault
    assert_end "timeout", "request_timeout: has only requests that hang",
               on: [*TOLD, :killed, :hung], cause: :request_timeout, fault: "has only requests that hang"
    assert_end "late", "did not end within 30 s", on: [*TOLD, :killed], cause: :max_requests,
                                                  fault: "did not end within 30 s"
    assert_end "failed", "did not become ready within 9 s", on: [:killed], fault: "did not become ready within 9 s"
  end

  def test_a_worker_that_has_closed_its_channel
    text = "it has closed its channel, or has executed another program"
    assert_end "application", text, on: TOLD, cause: :lost, status: STATUSES[0]
    assert_end "application", "#{text}: did not end within 30 s",
               on: [*TOLD, :killed], cause: :lost, fault: "did not end within 30 s"
    assert_end "failed", "exit status 0, before it was ready", on: [:leaving], cause: :lost, ending: "exit status 0"
    assert_end "crashed", "killed by SIGSEGV", on: TOLD, cause: :lost, status: STATUSES[1],
                                               ending: "killed by SIGSEGV"
  end

  def test_what_was_asked_for
    assert_end "asked", "restart-workers", on: TOLD, cause: :restart, status: STATUSES[0]
    assert_end "asked", "fewer workers are wanted", on: TOLD, cause: :fewer, status: nil
    assert_end "asked", "restart-workers", on: %i[leaving ended_by_user], cause: :restart, ending: "killed by SIGTERM"
  end

  def test_a_generation_that_ends_has_one_note
    @notes.generation_ends(:retire, 2)
    2.times { @notes.ended(Child.new(on: TOLD, status: STATUSES[0])) }
    assert_equal 2, count("asked")
    @notes.generation_ends(:drain, 1)
    assert_equal ["generation 2 (2 workers) ends: another generation or server serves",
                  "generation 2 (1 worker) ends: the server stops"], texts
  end

  # The words of a worker, and their table, are in two files.
  def test_each_word_of_a_worker_has_a_text
    words = Bontebok::Children::EndNotes::WORDS
    assert_equal words, words & Bontebok::Channel::BYTES.keys & Bontebok::Children::EndNotes::CAUSES.keys
    reasons = Bontebok::Children::EndNotes::CAUSES.values.map(&:first)
    assert_empty reasons - Bontebok::TotalNames::ENDS.keys
    assert_raises(KeyError) { @totals.ended("unknown", "text") }
    assert_raises(KeyError) { @totals.deployed("unknown", "text") }
  end

  private

  def texts = @totals.memories.first.notes(:end).map(&:last)

  def count(reason) = @totals.memories.first.totals[:names].fetch("ended #{reason}", 0)

  def assert_end(reason, text, **child)
    before = count(reason)
    @notes.ended(Child.new(**child))
    assert_equal before + 1, count(reason), reason
    assert_equal "worker 3 g2 (pid 4711): #{text}", texts.last
  end
end
