# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/process_tree"

# A worker without requests sleeps.
class ProcessIdleTest < Support::TestCase
  include Support::OnceMore
  include ProcessTree

  # Updates of the process title must not wake up an idle worker.
  def test_after_a_request_the_worker_is_idle_again_and_nothing_wakes_it
    make_gate
    server = start_bontebok(args: ["-w", "1", "--tag", ""], rackup: GATED_APP)
    worker = workers(server).first
    request_at_gate(server) { assert_title worker, "bontebok worker 1 gen 1 busy" }
    assert_title worker, "bontebok worker 1 gen 1 idle"
    server.connect do |client|
      eventually("the worker to rest") { sleeps_while_quiet(client, worker, 0.2).zero? }
      assert_operator sleeps_while_quiet(client, worker, 2.2), :<=, 1
    end
  end

  private

  # Returns how often the worker's threads went to sleep within `seconds`.
  def sleeps_while_quiet(client, worker, seconds)
    before = Support::ProcessTable.sleeps(worker)
    assert client.quiet?(seconds)
    Support::ProcessTable.sleeps(worker) - before
  end
end
