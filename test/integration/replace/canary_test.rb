# frozen_string_literal: true

require "json"
require "test_helper"
require_relative "../support/process_tree"
require_relative "../support/releases"

# `bontebok deploy --canary N` starts a few new workers beside the old ones and compares their errors.
class CanaryTest < Support::TestCase
  include ProcessTree
  include Releases

  # Responds with 500 to every tenth request for /.
  BAD = <<~RUBY
    count = 0
    run ->(_) { [(count += 1) % 10 == 0 ? 500 : 200, { "content-type" => "text/plain" }, ["bad"]] }
  RUBY
  GOOD = <<~'RUBY'
    text = "release #{File.basename(Dir.pwd)}"
    run ->(_) { [200, { "content-type" => "text/plain" }, [text]] }
  RUBY

  def test_a_good_canary_becomes_the_new_generation
    server = start
    release(2, "config.ru" => GOOD)
    command = deploy_canary("--for", "2000ms")
    assert_match(/^generation 2: 1 of 2 workers serve beside the former ones$/, command.output.text)
    assert_match(/^canary +1 +\d+ +0 +0.00 %\nformer +2 +\d+ +0 +0.00 %$/, command.output.text)
    assert_match(/^generation 2 serves$/, command.output.text)
    assert_equal 0, command.status.exitstatus
    assert(eventually { server.get.body == "release 2" && wait_for_workers(server, 2) })
  end

  # A canary needs 200 requests, so a limit below is reached.
  def test_workers_that_reach_a_limit_are_replaced_during_the_trial
    server = start("--max-request-per-child", "150")
    release(2, "config.ru" => GOOD)
    command = deploy_canary("--for", "2s")
    assert_match(/^generation 2 serves$/, command.output.text)
    assert_match(/w1 g2 wants to be replaced: max requests 1\d\d reached/, server.output.text)
    assert_match(/^canary +[12] +\d{3,} +0 +0.00 %$/, command.output.text)
    assert_equal 0, command.status.exitstatus
  end

  def test_a_canary_with_errors_is_taken_back
    server = start
    former = workers(server)
    release(2, "config.ru" => BAD)
    command = deploy_canary("--for", "10m", "--max-errors", "2%")
    assert_match(/^canary +1 +\d+ +\d+ +(9|10|11)\.\d\d %$/, command.output.text)
    assert_match(/^bontebok: the new master has too many errors$/, command.output.text)
    assert_equal 4, command.status.exitstatus
    eventually("the former generation") { Support::ProcessTable.children(server.pid).size == 1 }
    assert_equal former, workers(server)
  end

  # A proxy keeps its connections. The canary gets requests of a connection that a former worker has accepted, and gives
  # the connection back when it is taken back.
  def test_a_kept_connection_reaches_the_canary_and_comes_back
    server = start
    release(2, "config.ru" => "run ->(env) { [env['PATH_INFO'] == '/bad' ? 500 : 200, {}, ['release 2']] }\n")
    server.connect do |client|
      command = hold_canary
      ["release 2", "release 1", "release 2"].each do |release|
        eventually(release) { ask(client, "/") == release }
      end
      eventually("the end of the canary") { ask(client, "/bad") && !command.running? }
      assert_equal 4, command.wait.exitstatus
      eventually("the former workers") { Support::ProcessTable.children(server.pid).size == 1 }
      assert_equal "release 1", ask(client, "/")
    end
  end

  def test_a_canary_without_requests_is_taken_back
    server = start
    release(2, "config.ru" => GOOD)
    command = run_command("deploy", "--canary", "1", "--for", "0.1s")
    assert_match(/^canary +1 +0 +0 +0.00 %$/, command.output.text)
    assert_match(/^bontebok: the new master got fewer than 200 requests: a longer --for may help$/, command.output.text)
    assert_equal 5, command.status.exitstatus
    eventually("the former generation") { Support::ProcessTable.children(server.pid).size == 1 }
    assert_equal "release 1", server.get.body
  end

  def test_a_canary_whose_worker_dies_is_taken_back
    server = start
    release(2, "config.ru" => GOOD)
    command = hold_canary
    canary = Support::ProcessTable.children(Support::ProcessTable.children(server.pid).last.pid).first
    Process.kill("KILL", canary.pid)
    assert_equal 4, command.wait.exitstatus
    assert_match(/^bontebok: the new master has lost a worker, which has ended by itself$/, command.output.text)
    eventually("the former generation") { Support::ProcessTable.children(server.pid).size == 1 }
    assert_equal "release 1", server.get.body
  end

  def test_a_canary_that_dies_ends_the_deploy
    server = start
    release(2, "config.ru" => GOOD)
    command = hold_canary
    Process.kill("KILL", Support::ProcessTable.children(server.pid).last.pid)
    assert_equal 1, command.wait.exitstatus
    assert_equal("release 1", eventually { server.get.body[/release 1/] })
  end

  def test_a_canary_is_not_judged_without_a_former_master
    server = start("-w", "4")
    release(2, "config.ru" => GOOD)
    command = hold_canary
    run_command("workers", "2") # the canary keeps its only worker
    Process.kill("KILL", master(server).pid)
    assert_equal 0, command.wait.exitstatus
    assert_match(/^no former master serves: the canary is not judged\ngeneration 2 serves$/, command.output.text)
    eventually("one master") { Support::ProcessTable.children(server.pid).size == 1 }
    assert_equal 2, workers(server).size
  end

  def test_wrong_values
    start
    [%w[--canary 0], %w[--canary], %w[--canary 1 --for soon], %w[--canary 1 --max-errors 1]].each do |args|
      command = run_command("deploy", *args)
      assert_match(/wants another value than .*: bontebok deploy --canary 1/, command.output.text)
      assert_equal 2, command.status.exitstatus
    end
    command = run_command("deploy", "--canary", "1", "--for", "9000h")
    assert_equal [2, "bontebok: --for wants a time from 1 ms to a year, or 0\n"],
                 [command.status.exitstatus, command.output.text]
    [%w[--for 5s], %w[--max-errors 1%], %w[--canary 1 --supervisor]].each do |args|
      command = run_command("deploy", *args)
      assert_match(/\Abontebok: --\S+ (?:needs --canary|and --supervisor exclude each other)/, command.output.text)
      assert_equal 2, command.status.exitstatus
    end
  end

  # Programs can write to the control socket themselves.
  def test_wrong_numbers_in_a_request
    server = start
    [[1, 60, -0.05], [1, 60, 1.1], [1, -1, 0], [1, "1e400", 0], [0, 60, 0], [-3, 60, 0], [1.5, 60, 0], ["1", 60, 0],
     [1, "60", 0], [1, nil, 0], [1, 60, nil], [1, 40_000_000, 0], [true, 60, 0]].each do |values|
      numbers = values.map { |value| value == "1e400" ? value : value.to_json }
      text = format('{"version":1,"command":"deploy","canary":%s,"for":%s,"max_errors":%s}', *numbers)
      assert_match(/"status":2,.*a canary needs a number of workers/, ask_control(text), text)
    end
    assert_predicate server, :running?
  end

  RUBY = [RbConfig.ruby, Support::BontebokProcess::EXECUTABLE].freeze

  private

  def start(*args)
    release(1, "config.ru" => GOOD)
    start_current("-w", "2", "--control", "#{temp_dir}/control", *args)
  end

  def ask(client, path)
    client.request("GET", path)
    client.read_response.body
  end

  # Returns what the server responds to the line.
  def ask_control(line)
    Support::Client.open("unix:#{temp_dir}/control") do |client|
      client.write("#{line}\n")
      client.read_to_end
    end
  end

  # Starts the command, and waits until the canary serves.
  def hold_canary
    command = start_process(*RUBY, "deploy", "--canary", "1", "--for", "600s", "--control", "#{temp_dir}/control")
    command.wait_for_output(/1 of \d workers serve/)
    command
  end

  # Runs the command under load. The load must not lose a request, but the bad canary responds with 500.
  def deploy_canary(*args)
    load = start_process(*RUBY, "bench", "-c", "4", "--rate", "1500", "-d", "60", "--close",
                         "unix:#{temp_dir}/bontebok.sock:/")
    run_command("deploy", "--canary", "1", *args)
  ensure
    load.signal("INT")
    load.wait
    refute_match(/refused|reset|short|timeout/, load.output.text)
  end

  def run_command(*args)
    Support::ChildProcess.run(*RUBY, *args, "--control", "#{temp_dir}/control", chdir: temp_dir)
  end
end
