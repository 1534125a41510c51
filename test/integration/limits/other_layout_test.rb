# frozen_string_literal: true

require "test_helper"
require_relative "../support/control_case"

# A deploy of a version whose scoreboard has another layout. The generations share only the listeners, and the
# supervisor does not see the new workers. But it has their totals, unless the totals have another layout, too. The
# command `status` finds the new workers.
class OtherLayoutTest < Support::TestCase
  include ControlCase

  # /hold waits until the file "go" exists.
  APP = <<~'RUBY'
    base = File.expand_path("../..", Dir.pwd)
    run(lambda do |env|
      if env["PATH_INFO"] == "/hold"
        File.write("#{base}/held-#{File.basename(Dir.pwd)}", "")
        sleep 0.01 until File.exist?("#{base}/go")
      end
      [200, {}, [File.basename(Dir.pwd)]]
    end)
  RUBY

  def setup
    FileUtils.mkdir("#{temp_dir}/tmp")
  end

  def test_the_new_workers_show_that_the_server_drains
    server = start_old("--drain-delay", "10m", "--ready-path", "/ready")
    deploy_other_layout(2)
    assert_command 0, /^worker 1 g2 pid \d+: 0 of/, "status"
    { "drain" => 503, "resume" => 200 }.each do |command, status|
      assert_equal 0, run_command(command).status.exitstatus
      assert_ready status, server
    end
    run_command("drain")
    deploy_other_layout(3)
    assert_ready 503, server
    run_command("resume")
    assert_ready 200, server
    assert_totals server
    server.signal("TERM")
    assert_ready 503, server
    assert_equal 0, server.stop.exitstatus
  end

  # In each generation one request may wait.
  def test_max_queue_counts_for_each_generation
    skip "only in the long form" unless Support::Length::LONG
    server = start_old("--max-queue", "1")
    clients = [hold(server, 1), fill_queue(server)]
    deploy_other_layout(2)
    clients.push(hold(server, 2), fill_queue(server))
    temp_file("go")
    assert_equal(%w[1 1 2 2], clients.map { |client| client.read_response.body })
  ensure
    clients&.each(&:close)
  end

  private

  def start_old(*args)
    release_with_bontebok(1, Bontebok::VERSION)
    temp_file("releases/1/config.ru", APP)
    start_current("-w", "1", "--control", control, *args, command: [RbConfig.ruby, "exe/bontebok"])
  end

  # Each generation has a memory of its own. The memory of a generation that has ended can be used again. Then a
  # generation follows whose totals have another layout.
  def assert_totals(server)
    totals = TotalsReader.new(server.pid)
    assert_includes 2..3, totals.memories
    before = totals.look[:responses_2xx]
    3.times { server.get }
    assert(eventually(seen: -> { totals.look }) { totals.look[:responses_2xx] >= before + 3 })
    deploy_other_layout(4, totals: true)
    server.wait_for_output(/ warn \d+ - g4 the server's totals do not include this generation$/)
    server.wait_for_output(/(?:.*master \(pid \d+\) has left){3}/m)
    counted = totals.look[:responses_2xx]
    assert_equal(["4"] * 3, Array.new(3) { server.get.body })
    assert_equal counted, totals.look[:responses_2xx]
  end

  def deploy_other_layout(number, **options)
    release_with_other_layout(number, "99.1.2", **options)
    temp_file("releases/#{number}/config.ru", APP)
    assert_command 0, /other layout\ngeneration #{number} serves\n/, "deploy", "--wait"
  end

  def assert_ready(status, server)
    assert eventually(status.to_s) { server.get("/ready").status == status }
  end

  # Returns a client whose request is in the application of this release.
  def hold(server, release)
    connect(server, "/hold").tap { eventually { File.exist?("#{temp_dir}/held-#{release}") } }
  end

  # Sends requests until one is rejected. Returns the client whose request waits.
  def fill_queue(server)
    connect(server, "/").tap { eventually("a full queue") { server.get("/").status == 503 } }
  end

  def connect(server, path)
    Support::Client.new(server.address).tap { |client| client.request("GET", path) }
  end
end
