# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/asking_crowd"

# kill -9 of a worker at random, again and again, while more is asked than the workers have time for, so that most
# requests wait in the queue that they share. What was in the dead ones' hands is lost, and nothing else.
# BONTEBOK_TEST_KILLING=30 kills for 30 seconds.
class LoadKillingTest < Support::TestCase
  include Support::OnceMore
  include AskingCrowd

  SECONDS = Float(ENV.fetch("BONTEBOK_TEST_KILLING", "4"))
  INTERVAL = 0.2
  WORKERS = 4
  # No pauses for those that live for a moment only, or soon none would be left to kill.
  ARGUMENTS = %W[-w #{WORKERS} -t 1 -E production --err-respawn-interval 0].freeze
  # One in ten takes longer. So long that the clients, which are threads of one process, always ask for more.
  APPLICATION_SECONDS = 'id.end_with?("0") ? 0.06 : 0.004'

  %i[tcp unix].each do |transport|
    define_method("test_workers_that_are_killed_over_#{transport}") do
      server = start_bontebok(listen: transport, args: ARGUMENTS, rackup: application_of(APPLICATION_SECONDS))
      server.wait_for_output(/ ready in /)
      before = descriptors(server)
      killed = nil
      fates = asking(server) { killed = kill_some(server) }
      assert_lost_by(killed, fates)
      wait_for_workers(server, WORKERS, without: killed)
      assert_no_more_descriptors(server, before)
    end
  end

  private

  # In a pace of the test's own: nothing is waited for.
  def kill_some(server)
    random = Random.new(Minitest.seed)
    Array.new((SECONDS / INTERVAL).round) do
      sleep(INTERVAL)
      eventually { workers(server).sample(random: random) }.tap { |pid| Process.kill("KILL", pid) }
    end
  end

  # A lost one was begun by a dead worker, or its connection was one's that had not begun with it. Each dead one had
  # one in its hands at most, which it may have been about to begin. Who had a connection on which nothing was
  # answered yet, nobody knows.
  def assert_lost_by(killed, fates)
    by = begun
    lost = fates.select(&:lost?)
    began, rest = lost.partition { |fate| by[fate.id] }
    began.each { |fate| assert_includes killed, by[fate.id] }
    in_hand = began + rest.reject { |fate| fate.owner.nil? || killed.include?(fate.owner) }
    assert_operator in_hand.size, :<=, killed.size, in_hand
    # Of the seven for each worker nearly all wait in the queue.
    assert_operator lost.size, :<=, 3 * killed.size, lost
    assert_operator fates.count(&:moved?), :>=, 10 * killed.size
  end
end
