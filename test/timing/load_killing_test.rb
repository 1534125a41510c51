# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/asking_crowd"

# Kills a random worker with SIGKILL every 0.2 s. The clients send more requests than the workers can serve, so most
# requests wait in the shared queue (any worker can take them). Only requests of the killed workers are lost. With
# BONTEBOK_TEST_KILLING=30 the test kills workers for 30 seconds.
class LoadKillingTest < Support::TestCase
  include Support::OnceMore
  include AskingCrowd

  SECONDS = Float(ENV.fetch("BONTEBOK_TEST_KILLING", "4"))
  INTERVAL = 0.2
  WORKERS = 4
  # The master replaces a killed worker without a pause. With pauses, all workers would soon be dead.
  ARGUMENTS = %W[-w #{WORKERS} -t 1 -E production --err-respawn-interval 0].freeze
  # A Ruby expression: the seconds that a request takes. One request in ten takes longer. All clients are threads of one
  # process, so only slow requests can keep all workers busy.
  APPLICATION_SECONDS = 'id.end_with?("0") ? 0.06 : 0.004'

  Support::Length.of(%i[tcp], %i[tcp unix]).each do |transport|
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

  # Kills a random worker every INTERVAL seconds. Returns the pids of the killed workers.
  def kill_some(server)
    random = Random.new(Minitest.seed)
    Array.new((SECONDS / INTERVAL).round) do
      sleep(INTERVAL)
      eventually { workers(server).sample(random: random) }.tap { |pid| Process.kill("KILL", pid) }
    end
  end

  # A killed worker loses the requests that wait on its own connections. The worker also loses at most one request that
  # it has begun or has taken from the shared queue. If a connection has had no response yet, the test does not know
  # which worker owns the connection.
  def assert_lost_by(killed, fates)
    by = begun
    lost = fates.select(&:lost?)
    began, rest = lost.partition { |fate| by[fate.id] }
    began.each { |fate| assert_includes killed, by[fate.id] }
    in_hand = began + rest.reject { |fate| fate.owner.nil? || killed.include?(fate.owner) }
    assert_operator in_hand.size, :<=, killed.size, in_hand
    # The 28 clients have up to seven requests in flight for each worker. Nearly all of these requests wait in the
    # shared queue.
    assert_operator lost.size, :<=, 3 * killed.size, lost
    assert_operator fates.count(&:moved?), :>=, 10 * killed.size
  end
end
