# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/asking_crowd"

# kill -9 of a worker at random, again and again, under more load than the workers have time for, so that most requests
# wait in the shared queue. Only the requests in the hands of killed workers are lost. BONTEBOK_TEST_KILLING=30 kills
# for 30 seconds.
class LoadKillingTest < Support::TestCase
  include Support::OnceMore
  include AskingCrowd

  SECONDS = Float(ENV.fetch("BONTEBOK_TEST_KILLING", "4"))
  INTERVAL = 0.2
  WORKERS = 4
  # Without pauses after workers that lived for a moment only: with pauses, soon no worker would be left to kill.
  ARGUMENTS = %W[-w #{WORKERS} -t 1 -E production --err-respawn-interval 0].freeze
  # Seconds; one request in ten takes longer. The clients are threads of one process. The requests take so long that the
  # clients always ask for more than the workers can serve.
  APPLICATION_SECONDS = 'id.end_with?("0") ? 0.06 : 0.004'

  %i[tcp unix].each do |transport|
    define_method("test_killed_workers_lose_only_the_requests_in_their_hands_over_#{transport}") do
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

  # Kills at a pace of the test's own: it waits for no event.
  def kill_some(server)
    random = Random.new(Minitest.seed)
    Array.new((SECONDS / INTERVAL).round) do
      sleep(INTERVAL)
      eventually { workers(server).sample(random: random) }.tap { |pid| Process.kill("KILL", pid) }
    end
  end

  # A killed worker had begun the lost request, or had its connection and had not begun the request. Each killed worker
  # had at most one request in its hands, and may have been about to begin it. If no response has come on a connection
  # yet, nobody knows which worker had it.
  def assert_lost_by(killed, fates)
    by = begun
    lost = fates.select(&:lost?)
    began, rest = lost.partition { |fate| by[fate.id] }
    began.each { |fate| assert_includes killed, by[fate.id] }
    in_hand = began + rest.reject { |fate| fate.owner.nil? || killed.include?(fate.owner) }
    assert_operator in_hand.size, :<=, killed.size, in_hand
    # There are seven requests for each worker. Nearly all of them wait in the queue.
    assert_operator lost.size, :<=, 3 * killed.size, lost
    assert_operator fates.count(&:moved?), :>=, 10 * killed.size
  end
end
