# frozen_string_literal: true

require "bontebok/cli/cli"
require "test_helper"
require_relative "../support/control_case"

# Bontebok.stats in requests and in processes that the application forks. It has the numbers of `bontebok status`.
# Hooks: see ConfigHooksTest.
class StatsTest < Support::TestCase
  include ControlCase

  APP = <<~RUBY
    require "json"
    stats = -> { JSON.generate(Bontebok.stats) }
    early = stats.call
    run(lambda do |env|
      body = case env["PATH_INFO"]
             when "/early" then early
             when "/fork" then IO.popen("-") { |io| io ? io.read : print(stats.call) }
             else stats.call
             end
      [env["PATH_INFO"] == "/error" ? 500 : 200, { "content-type" => "application/json" }, [body]]
    end)
  RUBY
  SERVER = %w[pid mode generation workers threads tag by version max_queue].freeze
  PROCESS = %w[pid number generation started errors].freeze

  def setup
    super
    release(1, "config.ru" => APP)
  end

  def test_workers_and_their_children_have_the_numbers_of_the_command
    server = start("-t", "2", "--tag", "shop")
    wait_for_workers(server, 2)
    server.get("/error")
    command = eventually("the count") { json.then { |found| found if found["totals"]["responses"]["5xx"] == 1 } }
    %w[/ /fork].each { |path| assert_same_numbers(command, stats(server, path)) }
    assert_equal([0, nil], %w[/ /fork].map { |path| stats(server, path)["waiting"]["requests"] })
    assert_equal [2, []], stats(server, "/early").values_at("workers", "worker_status") # the master has loaded it
    deploy(server)
    eventually("the note of the deploy") { stats(server, "/")["phase"] == 2 }
    assert_equal "deploy", stats(server, "/")["server"]["by"]
  end

  def test_one_process
    server = start_current("-w", "0", "-t", "3", "--control", control)
    found = stats(server, "/")
    assert_equal [3, 1, 2, 1], found.values_at("running", "busy_threads", "pool_capacity", "requests_count")
    assert_equal ["single", server.pid, [server.pid]],
                 [*found["server"].values_at("mode", "pid"), found["processes"].map { |one| one["pid"] }]
  end

  def test_one_process_that_serves_on_after_a_deploy
    make_gate
    release(1, "config.ru" => APP.sub("body =", "File.read('#{gate}') if env['PATH_INFO'] == '/gate'\n\\0"))
    server = start_current("-w", "0", "--control", control)
    request_at_gate(server) do
      server.signal("USR2")
      server.wait_for_output(/SIGUSR2: the process is executed again/)
      remove_release(1)
    end
    server.wait_for_output(/the process serves on(?:.*\n)+.*ready in/)
    assert_equal [3, 1], stats(server, "/").values_at("running", "busy_threads")
  end

  private

  def assert_same_numbers(command, found)
    assert_equal command["server"].slice(*SERVER), found["server"].slice(*SERVER)
    assert_in_delta command["server"]["started"], found["server"]["started"], 0.1
    assert_equal [2, 2, 1], [*found.values_at("workers", "booted_workers"), found["totals"]["responses"]["5xx"]]
    assert_operator found["busy"], :>=, 1
    assert_equal(*[command["workers"], found["processes"]].map { |all| all.map { |one| one.slice(*PROCESS) } })
  end

  def stats(server, path) = JSON.parse(server.get(path).body)

  def json
    out, = capture_io { Bontebok::CLI.run(["status", "--control", control, "--json"]) }
    JSON.parse(out)
  end
end
