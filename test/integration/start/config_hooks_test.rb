# frozen_string_literal: true

require "test_helper"
require "bontebok/config/hooks"
require_relative "../support/process_tree"

# The hooks of a configuration file: which process runs each hook, when the hook runs, and what happens if a hook
# raises.
class ConfigHooksTest < Support::TestCase
  include ProcessTree

  APP = "run ->(env) { env['PATH_INFO'] == '/raise' ? raise(IndexError, 'no shelf') : [200, {}, [Process.pid.to_s]] }\n"

  DRAIN = "before_worker_drain"

  # Each hook prints its name, its process, the number of threads that serve, and its arguments.
  TELLING = Bontebok::Hooks::NAMES.map do |name|
    "#{name} { |*all| $stderr.puts ['hook', :#{name}, Process.pid, Bontebok.stats[:threads], " \
      "*all.map(&:inspect)].join(' ') }\n"
  end.join

  def test_every_hook_runs_in_its_process_and_in_order
    server = start(TELLING, args: ["-w", "1"], rackup: "$stderr.puts %(hook loaded \#{Process.pid})\n#{APP}")
    server.wait_for_output(/hook on_booted/)
    master = master(server).pid
    worker = workers(server).first
    server.stop
    text = server.output.text
    told = text.scan(/^hook (\w+) (\d+)/).map { |name, pid| [name, pid.to_i] }
    by_process = told.group_by(&:last).transform_values { |all| all.map(&:first) }
    assert_equal({ master => %w[loaded before_fork after_worker_fork on_booted after_worker_exit after_stopped],
                   worker => %w[after_fork after_worker_ready before_thread_start before_thread_exit
                                before_worker_exit] }, by_process.transform_values { |names| names - [DRAIN] })
    assert_equal [DRAIN], by_process[worker] & [DRAIN] # in a thread of its own
    assert_equal [%w[before_fork 0], %w[on_booted 1], %w[after_stopped 0]],
                 text.scan(/^hook (before_fork|on_booted|after_stopped) \d+ (\d)/)
    assert_match(/^hook after_worker_exit .*number=1, pid=#{worker}.*> #<Process::Status: pid #{worker} exit 0>/, text)
  end

  def test_a_single_process_runs_the_hooks_of_its_threads_and_of_its_end
    server = start(TELLING, args: ["-w", "0"])
    server.wait_for_output(/hook on_booted/)
    server.stop
    assert_equal %w[after_stopped before_thread_exit before_thread_start before_worker_drain on_booted],
                 server.output.text.scan(/^hook (\w+) #{server.pid}/).flatten.sort
    assert_match(/^hook #{DRAIN} .*number=1, pid=#{server.pid}, requests=0>$/, server.output.text)
  end

  def test_a_worker_that_exits_has_its_number_of_requests
    hooks = %w[after_fork after_worker_ready before_worker_exit].map do |name|
      "#{name} { |worker| $stderr.puts ['#{name}', worker.requests].join(' ') }\n"
    end
    server = start(hooks.join, args: %w[-w 1])
    2.times { server.get }
    server.stop
    assert_equal ["after_fork 0", "after_worker_ready 0", "before_worker_exit 2"],
                 server.output.text.scan(/^(?:after|before)_.*/)
  end

  def test_after_fork_runs_before_an_application_that_is_not_preloaded
    server = start("after_fork { $connected = true }\n", args: %w[-w 1 --preload false],
                                                         rackup: "run ->(_) { [200, {}, [$early.to_s]] }.tap { " \
                                                                 "$early = $connected.inspect }\n")
    assert_equal "true", server.get.body
  end

  def test_a_hook_that_raises_fails_a_first_start
    %w[before_fork after_fork after_worker_ready].each do |name|
      server = start("\n#{name} { raise IOError, 'no database' }\n", ready: false, args: ["-w", "2"])
      assert_equal 1, server.wait.exitstatus, name
      server.output.wait_for_end
      assert_match(/the hook #{name} failed.*no database \(IOError\).*bontebok\.rb:2/m, server.output.text)
      assert_match(/no worker became ready/, server.output.text)
      refute_match(%r{lib/bontebok/}, server.output.text)
    end
  end

  def test_each_thread_runs_hooks_at_its_start_and_at_its_end
    server = start("before_thread_start { Thread.current[:name] = 'antelope'; raise IOError, 'no name' }\n" \
                   "before_thread_exit { $stderr.puts Thread.current[:name] }\n",
                   args: %w[-w 1 -t 2], rackup: "run ->(_) { [200, {}, [Thread.current[:name]]] }\n")
    assert_equal "antelope", server.get.body
    assert_equal 0, server.stop.exitstatus
    assert_equal 2, server.output.text.scan(/^antelope$/).size
    assert_equal 2, server.output.text.scan("the hook before_thread_start failed: no name (IOError)").size
  end

  def test_a_hook_that_kills_its_thread_does_not_prevent_the_stop
    %w[before_thread_start before_thread_exit].each do |name|
      server = start("#{name} { Thread.current.kill }\n", args: %w[-w 0])
      server.stop
      assert_match(/ stopped$/, server.output.text)
      assert_equal 1, server.output.text.scan("a serving thread was killed").size, name
    end
  end

  def test_a_hook_that_raises_after_the_start_is_logged
    server = start("on_booted { raise 'boom' }\nafter_worker_exit { raise 'bang' }\nbefore_worker_exit { exit 3 }\n",
                   args: ["-w", "1"])
    server.wait_for_output(/ error \d+ \S+ \S+ the hook on_booted failed: boom \(RuntimeError\)/)
    assert_equal [200, 0], [server.get.status, server.stop.exitstatus]
    assert_match(/the hook before_worker_exit failed: exit \(SystemExit\)/, server.output.text)
    assert_match(/the hook after_worker_exit failed: bang \(RuntimeError\)/, server.output.text)
  end

  def test_on_error_gets_the_error_and_gives_the_response
    server = start("on_error { |error, env| $stderr.puts('told ' + env['PATH_INFO']); error.message }\n",
                   args: ["-w", "1", "-E", "production"])
    response = server.get("/raise")
    assert_equal [500, "no shelf"], [response.status, response.body]
    server.wait_for_output(%r{told /raise})
    assert_equal 200, server.get.status
  end

  # NoMemoryError in a hook ends the process, as NoMemoryError in the application does.
  def test_a_hook_between_requests_can_end_its_process
    { "on_error" => "the hook on_error", "out_of_band" => "the out-of-band work" }.each do |name, what|
      server = start("#{name} { raise NoMemoryError, 'no room' }\n", args: %w[-w 1 --max-gc-per-request 1])
      old = server.get.body.to_i
      assert_equal 500, server.get("/raise").status
      wait_for_workers(server, 1, without: [old])
      assert_equal 200, server.get.status
      server.wait_for_output(/ error #{old} w1 g1 #{what} ends this process: no room \(NoMemoryError\)/)
      server.stop
    end
  end

  def test_a_signal_ends_a_start_while_a_hook_waits
    %w[before_fork after_fork].each do |name|
      server = start("#{name} { |worker| $stderr.puts('waiting') || sleep if worker.number == 2 }\n",
                     ready: false, args: ["-w", "2"])
      server.wait_for_output(/waiting/)
      assert_equal 0, server.stop("TERM").exitstatus, name
      refute_match(/killed$/, server.output.text)
    end
  end

  # The master must survive the signal, because it must tell its workers to stop.
  def test_a_signal_does_not_interrupt_a_hook_while_workers_run
    make_gate
    server = start(<<~RUBY, args: ["-w", "1"])
      count = 0
      before_fork { $stderr.puts(File.read('gate') + 'passed') if (count += 1) == 2 && warn('waiting').nil? }
    RUBY
    Process.kill("TERM", server.get.body.to_i)
    server.wait_for_output(/^waiting/)
    server.signal("TERM")
    server.wait_for_output(/ stopping$/)
    open_gate
    assert_equal 0, server.wait.exitstatus
    assert_match(/^passed$/, server.output.text)
  end

  private

  def start(text, rackup: APP, args: [], **options)
    path = temp_file("bontebok.rb", text)
    start_bontebok(args: ["-c", path, *args], rackup: rackup, **options)
  end
end
