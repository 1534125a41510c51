# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# The tree of processes: the parent of each process, when a process is replaced, and which processes end when a process
# dies.
class ProcessLifecycleTest < Support::TestCase
  include ProcessTree

  def test_the_supervisor_has_a_master_and_the_master_has_workers
    server = start_bontebok(args: ["-w", "2"], rackup: GATED_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    titles = workers(server).map { |pid| Support::ProcessTable.entry(pid).command[/\A\w+ \w+ \d+/] }
    assert_equal ["bontebok supervisor", "bontebok master", "bontebok worker 1", "bontebok worker 2"],
                 [Support::ProcessTable.entry(server.pid).command, master(server).command, *titles.sort]
    assert_includes workers(server), server.get.body.to_i
  end

  def test_the_application_is_loaded_once
    server = start_bontebok(args: ["-w", "3"], rackup: "$stderr.puts 'loaded in ' + Process.pid.to_s\n#{GATED_APP}")
    server.wait_for_output(/ ready in \d+ ms$/)
    assert_equal [master(server).pid.to_s], server.output.text.scan(/loaded in (\d+)/).flatten
  end

  def test_without_preload_each_worker_loads_the_application
    server = start_bontebok(args: ["-w", "3", "--preload", "false"],
                            rackup: "$stderr.puts 'loaded in ' + Process.pid.to_s\n#{GATED_APP}")
    server.wait_for_output(/ ready in \d+ ms$/)
    assert_equal workers(server).sort, server.output.text.scan(/loaded in (\d+)/).flatten.map(&:to_i).sort
  end

  def test_with_w_0_there_is_one_process_and_it_has_the_terminal
    input, keyboard = IO.pipe
    server = start_bontebok(args: ["-w", "0"], stdin: input, rackup: <<~RUBY)
      run ->(_) { [200, {}, [$stdin.gets, Process.pid.to_s]] }
    RUBY
    keyboard.puts("typed")
    assert_equal "typed\n#{server.pid}", server.get.body
    assert_equal [server.pid], server.group.map(&:pid)
    assert_equal Support::ProcessTable.entry(Process.pid).session, Support::ProcessTable.entry(server.pid).session
    assert_equal 0, server.stop("TERM").exitstatus
  ensure
    [input, keyboard].each(&:close)
  end

  def test_every_kind_of_server_says_when_it_is_ready
    [%w[-w 0], %w[-w 1], %w[-w 1 --preload false]].each do |args|
      server = start_bontebok(args: args, rackup: GATED_APP)
      server.wait_for_output(/listening on .* - - ready in \d+ ms$/m)
      assert_match(/ - - ready in \d+ ms$/, server.output.text)
      server.stop
    end
  end

  def test_with_w_0_a_killed_thread_ends_the_process
    server = start_bontebok(args: ["-w", "0"], rackup: "run ->(_) { Thread.current.kill }\n")
    assert_raises(Support::Client::Closed) { server.get }
    assert_equal 1, server.wait.exitstatus
    assert_match(/error #{server.pid} \S+ \S+ a serving thread was killed.*stopped$/m, server.output.text)
  end

  def test_a_worker_that_was_ready_is_replaced_at_once
    server = start_bontebok(args: ["-w", "2", "--err-respawn-interval", "10m"], rackup: GATED_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    killed = workers(server).first
    Process.kill("KILL", killed)
    wait_for_workers(server, 2, without: [killed])
    server.wait_for_output(/worker [12] \(pid #{killed}\) ended: killed by SIGKILL/)
    assert_equal 200, server.get.status
  end

  def test_a_worker_that_fails_before_it_is_ready_is_started_again_while_others_serve
    server = start_bontebok(args: ["-w", "2", "--preload", "false", "--err-respawn-interval", "50ms"], rackup: <<~RUBY)
      begin
        File.open("first", File::CREAT | File::EXCL)
      rescue Errno::EEXIST
        raise "not yet" unless File.exist?("allowed")
      end
      #{GATED_APP}
    RUBY
    server.wait_for_output(/ended before it was ready.*ended before it was ready/m)
    first = server.get.body
    occupy_a_worker(server) do
      temp_file("allowed")
      refute_equal first, server.get.body
    end
  end

  def test_the_first_start_does_not_wait_for_a_worker_that_fails
    server = start_bontebok(args: ["-w", "2", "--preload", "false", "--err-respawn-interval", "10m"], rackup: <<~RUBY)
      File.open("first", File::CREAT | File::EXCL).close
      #{GATED_APP}
    RUBY
    server.wait_for_output(/ ready in \d+ ms$/)
    assert_equal workers(server).join, server.get.body
  end

  def test_the_first_start_fails_if_no_worker_becomes_ready
    server = start_bontebok(ready: false, args: %w[-w 2 --preload false], rackup: "Thread.new { exit!(7) }.join")
    assert_equal 1, server.wait.exitstatus
    server.output.wait_for_end
    assert_match(/ended before it was ready: exit status 7/, server.output.text)
    refute_match(/listening/, server.output.text)
  end

  def test_the_first_start_fails_if_no_worker_becomes_ready_in_time
    server = start_bontebok(ready: false, args: %w[-w 2 --preload false --worker-boot-timeout 200ms],
                            rackup: "sleep if $stderr.puts('loading').nil?\n")
    assert_equal 1, server.wait.exitstatus
    server.output.wait_for_end
    assert_equal 2, server.output.text.scan("did not become ready within 0.2 s: killed").size
    assert_match(/no worker became ready/, server.output.text)
    refute_match(/listening/, server.output.text)
  end

  def test_a_start_fails_if_a_worker_has_too_few_descriptors
    server = start_bontebok(args: ["-w", "1", "-t", "64"], rlimit_nofile: [48, 48], rackup: GATED_APP)
    assert_equal 1, server.wait.exitstatus
    server.wait_for_output(/w1 g1 cannot serve: Too many open files/)
    server = start_bontebok(ready: false, args: ["-w", "0", "-t", "64"], rlimit_nofile: [48, 48])
    assert_equal 1, server.wait.exitstatus
    server.wait_for_output(/\Abontebok: Too many open files/)
  end

  # In this test, Thread.new fails after three threads. A limit of processes (RLIMIT_NPROC) has the same effect.
  def test_a_start_without_room_for_threads_fails
    refusal = temp_file("refusal.rb", <<~RUBY)
      Thread.singleton_class.prepend(Module.new do
        def new(...) = (@made = @made.to_i + 1) > 3 ? raise(ThreadError, "no more threads") : super
      end)
    RUBY
    { "0" => /\Abontebok: no room for threads: no more threads$/,
      "1" => /w1 g1 cannot serve: no more threads \(ThreadError\)/ }.each do |workers, message|
      server = start_bontebok(ready: false, args: ["-w", workers, "-t", "8"], rackup: GATED_APP,
                              env: { "RUBYOPT" => "-r#{refusal}" })
      assert_equal 1, server.wait.exitstatus
      server.wait_for_output(message)
      server.output.wait_for_end
      refute_match(/ ready in |exit_limit/, server.output.text)
      assert_equal ["config.ru", "refusal.rb"], Dir.children(temp_dir).sort
    end
  end

  def test_a_dead_master_and_its_workers_are_replaced
    server = start_bontebok(args: ["-w", "2"], rackup: GATED_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    former = [master(server).pid, *workers(server)]
    Process.kill("KILL", former.first)
    eventually { former.all? { |pid| gone?(pid) } }
    wait_for_workers(server, 2)
    assert_includes workers(server), server.get.body.to_i
    server.wait_for_output(/master \(pid #{former.first}\) ended: killed by SIGKILL/)
  end

  private

  # Runs the block while one worker is busy with a request for /gate.
  def occupy_a_worker(server)
    make_gate
    at_gate(server) do |client|
      yield
      open_gate
      client.read_response
    end
  end
end
