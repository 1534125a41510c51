# frozen_string_literal: true

require "json"
require "test_helper"
require_relative "../integration/support/process_tree"

# Kills a worker with SIGKILL under load. Each request has a new connection. Only the request that the worker was
# serving can be lost.
class LoadKillTest < Support::TestCase
  include Support::OnceMore
  include ProcessTree

  LOAD_TOOL = File.join(ROOT, "lib/bontebok/bontebok-bench")
  KILLS = 5
  # The master replaces a killed worker without a pause, because the load lasts only two seconds.
  ARGUMENTS = %w[-w 2 -E production --err-respawn-interval 0].freeze
  # A request takes 2 ms, so that a worker is serving a request at almost any time.
  APPLICATION = <<~RUBY
    run(lambda do |_env|
      sleep(0.002)
      [200, {}, [Process.pid.to_s]]
    end)
  RUBY

  Support::Length.of(%i[unix], %i[unix tcp]).each do |transport|
    define_method("test_a_killed_worker_loses_one_request_at_most_over_#{transport}") do
      server = start_bontebok(listen: transport, args: ARGUMENTS, rackup: APPLICATION)
      wait_for_workers(server, 2)
      load = start_process(LOAD_TOOL, "--json", "--close", "-c", "16", "-d", "2", url(server))
      KILLS.times { kill_one_that_serves(server) }
      result = result_of(load)
      assert_operator result["requests"], :>, 500
      assert_includes 1..KILLS, result["errors"].values.sum, result
      assert_equal result["requests"], result["ok"] + result["errors"].values.sum
    end
  end

  private

  # Kills the worker that has sent the last response.
  def kill_one_that_serves(server)
    before = workers(server)
    victim = server.get.body.to_i
    Process.kill("KILL", victim)
    wait_for_workers(server, 2, without: [victim])
    assert_includes before, victim
  end

  def url(server)
    address = server.address
    address.unix? ? "#{address}:/" : "http://#{address}/"
  end

  def result_of(load)
    load.wait
    load.output.wait_for_end
    JSON.parse(load.output.text(:stdout))
  end
end
