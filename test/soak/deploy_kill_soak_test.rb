# frozen_string_literal: true

require "json"
require "test_helper"
require_relative "../integration/support/process_tree"

# Kills a master or a worker with SIGKILL at random moments of deploys under load. In the end one generation serves, and
# only requests in the hands of killed workers are lost. With BONTEBOK_TEST_KILLS=200 the test kills 200 processes.
class DeployKillSoakTest < Support::TestCase
  include ProcessTree
  include Support::OnceMore

  KILLS = Integer(ENV.fetch("BONTEBOK_TEST_KILLS", "50"))
  WORKERS = 2
  CONNECTIONS = 8
  # Requests per second. A deploy takes about half a second.
  RATE = 400
  LONGEST_DEPLOY = 0.6

  def test_one_generation_serves_after_a_kill_at_any_moment
    args = %W[-w #{WORKERS} --err-respawn-interval 50ms --graceful-timeout 5s]
    server = start_bontebok(args: args, rackup: GATED_APP, listen: :tcp)
    server.wait_for_output(/ ready in \d+ ms$/)
    load = start_process(RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, "bench", "--json", "-c", CONNECTIONS.to_s,
                         "--rate", RATE.to_s, "-d", (KILLS * 4).to_s, "--close", "http://#{server.address}/")
    workers_killed = KILLS.times.count { |number| kill_one(server, Random.new(Minitest.seed + number)) == :worker }
    load.signal("INT")
    load.wait
    load.output.wait_for_end
    assert_lost_by(workers_killed, JSON.parse(load.output.text(:stdout)))
  end

  private

  # Returns :master or :worker.
  def kill_one(server, random)
    server.signal("USR2")
    sleep(random.rand(LONGEST_DEPLOY))
    kind = kill_victim(server, random)
    wait_for_one_generation(server)
    kind
  end

  # A process of the former generation may have ended before the signal comes.
  def kill_victim(server, random)
    kind, pid = victim(server, random)
    Process.kill("KILL", pid)
    kind
  rescue Errno::ESRCH
    retry
  end

  def victim(server, random)
    masters = Support::ProcessTable.children(server.pid)
    kind, process = random.rand(2).zero? ? [:master, masters] : [:worker, masters.flat_map { |one| children_of(one) }]
    process.empty? ? victim(server, random) : [kind, process.sample(random: random).pid]
  end

  def children_of(process)
    Support::ProcessTable.children(process.pid)
  end

  def wait_for_one_generation(server)
    eventually("one generation", seen: -> { [server.group.map(&:command), server.output.text.lines.last(40)] }) do
      masters = Support::ProcessTable.children(server.pid)
      masters.size == 1 && children_of(masters.first).size == WORKERS && server.get.status == 200
    end
  end

  def assert_lost_by(workers_killed, result)
    errors = result["errors"]
    assert_equal [0, 0], errors.values_at("refused", "timeout"), errors
    assert_operator errors.values.sum, :<=, workers_killed * CONNECTIONS, errors
    assert_operator result["ok"], :>, KILLS * 100
  end
end
