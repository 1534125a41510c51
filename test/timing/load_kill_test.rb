# frozen_string_literal: true

require "json"
require "test_helper"
require_relative "../integration/support/process_tree"

# kill -9 of a worker under load, a new connection for each request: at most the request in the worker's hands is lost.
class LoadKillTest < Support::TestCase
  include Support::OnceMore
  include ProcessTree

  LOAD_TOOL = File.join(ROOT, "lib/bontebok/bontebok-bench")
  KILLS = 5
  # Without a pause after a worker that lived for a moment only: the load goes on for two seconds.
  ARGUMENTS = %w[-w 2 -E production --err-respawn-interval 0].freeze
  # Slow enough that a worker has a request in its hands at almost any time.
  APPLICATION = <<~RUBY
    run(lambda do |_env|
      sleep(0.002)
      [200, {}, [Process.pid.to_s]]
    end)
  RUBY

  %i[unix tcp].each do |transport|
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

  # The pid comes from a response: this worker is at work.
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
    load.wait(30)
    load.output.wait_for_end
    JSON.parse(load.output.text(:stdout))
  end
end
