# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/busy_worker"

# graceful_timeout is short, and the idle worker must end within this time.
class ProcessStopTest < Support::TestCase
  include Support::OnceMore
  include BusyWorker

  def test_only_the_worker_that_does_not_finish_is_killed
    server = start("-w", "2", "-t", "1", "--graceful-timeout", "1s", listen: :tcp)
    busy = block(server, connect(server))
    other = other_than(server, busy)
    server.signal("TERM")

    assert_predicate server.wait, :success?
    killed = server.output.text.lines.grep(/did not end|killed/)
    assert(killed.any? { |line| line.include?(busy.to_s) }, killed)
    assert(killed.none? { |line| line.include?(other.to_s) }, killed)
  end
end
