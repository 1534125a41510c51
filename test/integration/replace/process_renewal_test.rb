# frozen_string_literal: true

require "json"
require "test_helper"
require_relative "../support/process_tree"

# Signals that replace workers or change the number of workers (see docs/SIGNALS.md). The server is under load.
class ProcessRenewalTest < Support::TestCase
  include ProcessTree

  # The requests of each of the two load generators, and their requests per second. The load lasts long enough for
  # several replacements.
  REQUESTS = Support::Length.of(2000, 8000)
  RATE = Support::Length.of(1000, 2000)
  PID_APP = "run ->(_) { [200, {}, [Process.pid.to_s]] }\n"

  %w[HUP USR1].each do |signal|
    define_method("test_#{signal.downcase}_loses_no_request") do
      under_load do |server|
        former = workers(server)
        server.signal(signal)
        wait_for_workers(server, 3, without: former)
      end
    end
  end

  def test_ttin_and_ttou_lose_no_request
    under_load do |server|
      [["TTIN", 4], ["TTOU", 3], ["TTOU", 2], ["TTIN", 3]].each do |signal, count|
        server.signal(signal)
        wait_for_workers(server, count)
      end
    end
  end

  # The workers of the killed master serve until the workers of the next master are ready.
  def test_killed_masters_lose_no_request
    under_load do |server|
      former = workers(server)
      Process.kill("KILL", master(server).pid)
      wait_for_workers(server, 3, without: former)
    end
  end

  # Counts the workers as often as possible. If all workers were replaced at the same time, there would be six workers.
  def test_usr1_replaces_one_worker_after_the_other
    server = start_bontebok(args: %w[-w 3 --preload false], rackup: "sleep 0.05\n#{PID_APP}")
    former = wait_until_ready(server)
    server.signal("USR1")
    most = 0
    eventually do
      now = workers(server)
      most = [most, now.size].max
      now.size == 3 && !now.intersect?(former)
    end
    assert_equal 4, most
    server.wait_for_output(/log files are opened again, workers are replaced one after the other/)
  end

  def test_a_new_worker_is_ready_before_the_former_worker_leaves
    make_gate
    server = start_bontebok(args: %w[-w 1 --preload false], rackup: <<~RUBY)
      File.open("first", File::CREAT | File::EXCL).close rescue File.read("gate")
      #{GATED_APP}
    RUBY
    former = wait_until_ready(server, 1)
    server.signal("HUP")
    eventually { workers(server).size == 2 }
    assert_equal former * 3, Array.new(3) { server.get.body.to_i }
    open_gate
    wait_for_workers(server, 1, without: former)
  end

  def test_ttou_keeps_the_last_worker
    server = start_bontebok(args: %w[-w 2], rackup: PID_APP)
    wait_until_ready(server, 2)
    server.signal("TTOU")
    server.wait_for_output(/ 1 worker$/)
    server.signal("TTOU")
    server.wait_for_output(/1 worker is the minimum: no worker is removed/)
    assert_equal wait_for_workers(server, 1).join, server.get.body
  end

  # The supervisor tells a new master the number of workers.
  def test_the_number_of_workers_survives_hup_and_a_new_master
    server = start_bontebok(args: %w[-w 1], rackup: PID_APP)
    former = wait_until_ready(server, 1)
    server.signal("TTIN")
    former |= wait_for_workers(server, 2)
    server.signal("HUP")
    former |= wait_for_workers(server, 2, without: former)
    Process.kill("TERM", master(server).pid)
    eventually { former.all? { |pid| gone?(pid) } }
    assert_empty former & wait_for_workers(server, 2, without: former)
  end

  def test_a_worker_that_leaves_finishes_its_request
    make_gate
    server = start_bontebok(args: %w[-w 2], rackup: GATED_APP)
    wait_until_ready(server, 2)
    clients = Array.new(2) { server.connect.tap { |client| client.request("GET", "/gate") } }
    eventually { server.output.text.scan("at the gate").size == 2 }
    server.signal("TTOU")
    leaving = eventually { workers(server).find { |pid| title(pid).include?("draining") } }
    Process.kill("TERM", leaving)
    open_gate_for(2)
    assert_equal([200, 200], clients.map { |client| client.read_response.status })
    clients.each(&:close)
    wait_for_workers(server, 1, without: [leaving])
    refute_match(/wants to be replaced/, server.output.text)
  end

  private

  def title(pid)
    File.read("/proc/#{pid}/cmdline")
  end

  # Waits until the server is ready. Returns its workers.
  def wait_until_ready(server, count = 3)
    server.wait_for_output(/ ready in \d+ ms$/)
    wait_for_workers(server, count)
  end

  # Repeats the block while two load generators send requests, at least twice. One opens a connection for each request,
  # the other keeps its connections alive. Every request must be answered.
  def under_load
    server = start_bontebok(listen: :tcp, args: %w[-w 3], rackup: PID_APP)
    wait_until_ready(server)
    loads = start_loads(server)
    count = 0
    until count >= 2 && loads.none?(&:running?)
      loads += start_loads(server) if loads.none?(&:running?)
      yield server
      count += 1
    end
    loads.each { |load| assert_all_served(load) }
  end

  def start_loads(server)
    [["--close"], []].map { |arguments| start_load(server, arguments) }
  end

  def start_load(server, arguments)
    start_process(RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, "bench", "--json", "-n", REQUESTS.to_s,
                  "--rate", RATE.to_s, "-c", "4", *arguments, "http://#{server.address}/")
  end

  def assert_all_served(load)
    load.wait
    load.output.wait_for_end
    result = JSON.parse(load.output.text(:stdout))
    assert_equal REQUESTS, result["ok"], result.inspect
  end
end
