# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# With Preload, the application's threads run in the master. These threads must not end the master.
class ProcessMasterGuardTest < Support::TestCase
  include ProcessTree

  # Each thread waits for a file with the name of the thread.
  THREADS = <<~RUBY
    def background(name)
      Thread.new do
        Thread.current.name = name
        Thread.current.abort_on_exception = true
        sleep 0.01 until File.exist?(name)
        yield
      end
    end
    background("refresh") { raise "the cache is broken" }
    background("watchdog") { exit 3 }
    main = Thread.main
    background("careless") { main.raise(IOError, "for the main thread") }
  RUBY
  # Timeout.timeout raises an exception in the thread that runs the hook. The exception must reach the hook while the
  # hook still runs.
  HOOKS = <<~RUBY
    require "timeout"
    limited = proc do |*|
      Timeout.timeout(0.01) { sleep }
    rescue Timeout::Error
      $stderr.puts "timed out"
    end
    before_fork(&limited)
    after_fork(&limited)
    after_worker_exit(&limited)
    after_worker_fork { Thread.main.raise(IOError, "in the hook") if File.exist?("hook") }
  RUBY

  def test_a_thread_that_would_end_the_master_is_logged_and_the_master_continues
    server = start(THREADS + GATED_APP)
    former = [master(server).pid, *workers(server)]
    { "refresh" => /the cache is broken \(RuntimeError\)/, "watchdog" => /exit \(SystemExit\)/ }.each do |name, message|
      temp_file(name)
      server.wait_for_output(/ error #{former.first} .* thread #{name} \S+config\.ru:2 .* continues: #{message}$/)
      server.wait_for_output(/^\s+\S+config\.ru:\d+:in .*block in/)
    end
    temp_file("careless")
    server.wait_for_output(/ error #{former.first} .* a thread of the application .*: for the main thread \(IOError\)$/)
    assert_equal former, [master(server).pid, *workers(server)]
    assert_still_works(server)
    assert_equal 0, server.stop.exitstatus
  end

  def test_hooks_may_use_timeouts_and_fail
    temp_file("hooks.rb", HOOKS)
    server = start(GATED_APP, "-c", "hooks.rb")
    former = master(server).pid
    temp_file("hook")
    assert_still_works(server)
    server.wait_for_output(/ error #{former} .*in the hook \(IOError\)/)
    assert_equal 0, server.stop.exitstatus
    assert_equal 9, server.output.text.scan("timed out").size # 3 workers start (2 hooks) and end (1 hook)
  end

  # The thread raises while the master runs #tick, and not while the master waits.
  def test_a_thread_cannot_end_the_master_between_two_waits
    temp_file("steps.rb", <<~RUBY)
      require "bontebok/processes/children"
      Bontebok::Children.prepend(Module.new do
        def tick
          Thread.pass while $breaker&.push(:now) && $thread.alive?
          super
        end
      end)
    RUBY
    server = start(<<~RUBY + GATED_APP, "-c", "steps.rb")
      $breaker = Queue.new
      $thread = Thread.new do
        Thread.current.abort_on_exception = true
        raise "between two waits" if $breaker.pop
      end
    RUBY
    server.wait_for_output(/this process continues: between two waits \(RuntimeError\)$/)
    assert_still_works(server)
  end

  # The process of rackup loads the application, becomes the supervisor and forks the master. So the application's
  # threads run in the supervisor, not in the master.
  def test_under_rackup_no_thread_ends_the_supervisor_or_the_master
    rackup_file("config.ru", THREADS + GATED_APP)
    server = start_process("bundle", "exec", "rackup", "-s", "bontebok", "-O", "Listen=unix:#{temp_dir}/a.sock",
                           "-O", "MaxWorkers=1", chdir: temp_dir)
    server.wait_for_output(/ ready in \d+ ms$/)
    temp_file("watchdog")
    server.wait_for_output(/ error #{server.pid} .* the thread watchdog .* process continues: exit \(SystemExit\)$/)
    assert_generation_follows(server)
    assert_equal 0, server.stop("TERM").exitstatus
  end

  private

  # If the master dies, the supervisor forks the next one.
  def assert_generation_follows(server)
    totals = TotalsReader.new(server.pid)
    Process.kill("KILL", master(server).pid)
    text = "generation 2 serves (in place of one that died or got a signal)"
    assert(eventually(seen: -> { totals.notes(:deploy) }) { totals.notes(:deploy).last == text })
  end

  def start(rackup, *args)
    server = start_bontebok(args: %w[-w 2] + args, rackup: rackup)
    server.wait_for_output(/ ready in \d+ ms$/)
    server
  end

  # Asserts that the master replaces a worker that was killed.
  def assert_still_works(server)
    former = master(server).pid
    killed = workers(server).first
    Process.kill("KILL", killed)
    wait_for_workers(server, 2, without: [killed])
    assert_equal 200, server.get.status
    eventually { server.output.text.scan(" ready after ").size == 3 }
    assert_equal former, master(server).pid
  end
end
