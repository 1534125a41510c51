# frozen_string_literal: true

require "json"
require "test_helper"
require_relative "../support/process_tree"

# Out-of-band work of a worker: between two requests, the worker runs the hook out_of_band or collects garbage. No
# client waits, because the other workers accept the requests.
class ProcessOutOfBandTest < Support::TestCase
  include ProcessTree

  PID_APP = "run ->(_) { [200, {}, [Process.pid.to_s]] }"

  # The first worker that runs the hook waits at the gate (a FIFO) until the test opens the gate.
  SLOW_HOOK = <<~RUBY
    out_of_band do |worker|
      next unless File.open("first", File::CREAT | File::EXCL) rescue next
      $stderr.puts "worker \#{worker.number} (\#{worker.pid}) out of band"
      File.read("gate")
      $stderr.puts "back"
    end
  RUBY

  # The worker at the gate.
  BEGUN = /\((\d+)\) out of band/

  def test_no_request_waits_for_a_worker_that_is_out_of_band
    [1, 3].each do |threads|
      server, busy = start_with_slow_hook("-w", "2", "-t", threads.to_s) { |started| get_until(started, BEGUN) }
      sibling = (workers(server) - [busy]).map(&:to_s)
      assert_equal sibling * 100, Array.new(100) { server.get.body }
      Process.kill("TERM", workers(server).find { |pid| pid != busy }) # so that the worker at the gate must serve again
      open_gate
      server.wait_for_output(/^back/)
      eventually { server.get.body == busy.to_s }
      server.stop
      File.unlink(File.join(temp_dir, "first"), File.join(temp_dir, "gate"))
    end
  end

  # Some of the kept connections belong to the worker that is out of band.
  def test_no_request_on_a_kept_connection_waits_for_a_worker_that_is_out_of_band
    [1, 3].each do |threads|
      server, busy = start_with_slow_hook("-w", "2", "-t", threads.to_s) { |started| keep_connections(started) }
      sibling = (workers(server) - [busy]).first
      3.times { @kept.each { |client| assert_equal sibling, client.get.body.to_i } }
      open_gate
      @kept.each(&:close)
      server.stop
      File.unlink(File.join(temp_dir, "first"), File.join(temp_dir, "gate"))
    end
  end

  # Each worker is due to run the hook after every request.
  def test_only_one_of_two_workers_is_out_of_band_at_a_time
    make_gate
    config = temp_file("bontebok.rb", "out_of_band { |one| $stderr.puts \"out \#{one.pid}\"; File.read('gate') }\n")
    server = start_bontebok(args: ["-c", config, "-w", "2", "--max-gc-per-request", "1"], rackup: PID_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    first = get_until(server, /^out (\d+)/)
    sibling = workers(server).map(&:to_s) - [first]
    assert_equal sibling * 50, Array.new(50) { server.get.body }
    assert_equal [first], server.output.text.scan(/^out (\d+)/).flatten
    open_gate
    eventually { server.get && server.output.text.scan(/^out/).size == 2 }
    open_gate
  end

  def test_requests_wait_for_the_hook_if_there_is_no_other_worker
    server, = start_with_slow_hook("-w", "1")
    server.connect do |client|
      client.request("GET", "/")
      assert client.quiet?(0.2)
      open_gate
      assert_equal 200, client.read_response.status
    end
  end

  def test_a_single_process_runs_the_hook
    server, pid = start_with_slow_hook("-w", "0")
    assert_equal server.pid, pid
    open_gate
    server.wait_for_output(/^back/)
    assert_equal 200, server.get.status
  end

  # graceful_timeout is the limit for the hook, as it is for requests.
  def test_a_stop_ends_the_hook_after_the_graceful_timeout
    server, = start_with_slow_hook("-w", "1", "--graceful-timeout", "0.5")
    assert_equal 0, server.stop("TERM").exitstatus
    assert_match(/did not end within 0.5 s: killed/, server.output.text)
  end

  def test_garbage_is_collected_between_requests
    collections = [[], ["--oob-gc", "--max-gc-per-request", "1"]].map do |options|
      server = start_bontebok(args: ["-w", "1", *options], rackup: "run ->(_) { [200, {}, [GC.count.to_s]] }")
      Array.new(200) { Integer(server.get.body) }.minmax.reverse.reduce(:-).tap { server.stop }
    end
    assert_operator collections.first, :<, 10
    assert_operator collections.last, :>=, 19 # at least one for every ten requests
  end

  # A collection can raise, for example if a late timeout of the application comes during the collection.
  def test_collections_continue_after_a_collection_that_raises
    config = temp_file("bontebok.rb", <<~RUBY)
      after_fork { GC.define_singleton_method(:start) { |**| $stderr.puts("tried") || raise(IOError) } }
    RUBY
    server = start_bontebok(args: ["-c", config, "-w", "1", "--oob-gc", "--max-gc-per-request", "1"], rackup: PID_APP)
    eventually { server.get && server.output.text.scan(/^tried/).size >= 3 }
    assert_operator server.output.text.scan(/^tried/).size, :>=, 3
  end

  # All options are on: garbage collection, the hook, and replacement by number of requests and by age.
  def test_no_request_is_lost_with_out_of_band_work_and_recycling
    config = temp_file("bontebok.rb", "out_of_band { GC.start }\n")
    server = start_bontebok(args: ["-c", config, "-w", "3", "-t", "2", "--oob-gc", "--max-gc-per-request", "50",
                                   "--max-request-per-child", "1000", "--max-worker-age", "2"], rackup: PID_APP)
    [[], ["--close"]].each do |options|
      assert_equal 10_000, bench(server, "-n", "10000", "-c", "8", *options)
    end
    assert_operator server.output.text.scan("wants to be replaced").size, :>, 5
  end

  private

  # Returns the server and the pid of the worker that is at the gate. The block sends the requests; default: one.
  def start_with_slow_hook(*args)
    make_gate
    config = temp_file("bontebok.rb", SLOW_HOOK)
    server = start_bontebok(args: ["-c", config, *args, "--max-gc-per-request", "1"], rackup: PID_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    block_given? ? yield(server) : server.get
    [server, Integer(server.wait_for_output(BEGUN)[1])]
  end

  # Sends requests until the output matches. Returns the match of the first group. A thread that is about to wait for a
  # request counts as busy, so one request can be too few.
  def get_until(server, pattern)
    eventually { server.get && server.output.text[pattern, 1] }
  end

  # All requests are sent before the first response is read, so each worker serves some of them.
  def keep_connections(server)
    @kept = Array.new(20) { Support::Client.new(server.address) }
    @kept.each { |client| client.request("GET", "/") }
    @kept.each(&:read_response)
    get_until(server, BEGUN)
  end

  # Returns the number of complete responses.
  def bench(server, *arguments)
    load = start_process(RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, "bench", "--json", *arguments,
                         "#{server.address}:/")
    load.wait
    load.output.wait_for_end
    JSON.parse(load.output.text(:stdout))["ok"]
  end
end
