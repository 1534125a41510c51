# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# Signals that end no process, and the signal dispositions that the application's commands inherit (see
# docs/SIGNALS.md).
class ProcessDispositionsTest < Support::TestCase
  include ProcessTree

  # Responds with the signals that a command of the application ignores. Prints the same list while the application
  # loads.
  IGNORED_APP = <<~'RUBY'
    ignored = lambda do
      bits = `cat /proc/self/status`[/^SigIgn:\s*(\h+)/, 1].to_i(16)
      Signal.list.select { |_, number| number.positive? && bits[number - 1] == 1 }.keys.join(" ")
    end
    $stderr.puts "ignored while loading: #{ignored.call}"
    run ->(_) { [200, { "content-type" => "text/plain" }, [ignored.call]] }
  RUBY

  def test_the_operators_signals_do_nothing_to_master_and_workers
    server = start_bontebok(args: ["-w", "1"], rackup: GATED_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    before = server.group.map(&:pid)
    (before - [server.pid]).product(%w[HUP USR1 USR2 TTIN TTOU PIPE XFSZ]).each { |pid, name| Process.kill(name, pid) }
    %w[PIPE XFSZ TTOU].each { |name| server.signal(name) }
    server.wait_for_output(/1 worker is the minimum/)
    assert_equal 200, server.get.status
    assert_equal before, server.group.map(&:pid)
  end

  # Signals come before the executed master has handlers, and after that.
  def test_the_operators_signals_do_nothing_to_an_executed_master_and_its_workers
    early = temp_file("early.rb", <<~RUBY)
      %w[HUP USR1 USR2 TTIN TTOU].each { |name| Process.kill(name, Process.pid) } if ENV.key?("BONTEBOK_SUPERVISOR")
    RUBY
    server = start_bontebok(args: ["-w", "1"], rackup: IGNORED_APP, env: { "RUBYOPT" => "-r#{early}" })
    server.wait_for_output(/ ready in \d+ ms$/)
    server.signal("USR2")
    server.wait_for_output(/master \(pid \d+\) has left/)
    before = server.group.map(&:pid)
    (before - [server.pid]).product(%w[HUP USR1 USR2 TTIN TTOU]).each { |pid, name| Process.kill(name, pid) }
    assert_empty server.get.body.split
    assert_empty server.output.text.scan(/ignored while loading: (.+)/)
    assert_equal before, server.group.map(&:pid)
  end

  # The application has removed the worker's handler. The signal comes after the worker's first request has begun.
  def test_int_with_rubys_own_handler_before_the_worker_waits
    make_gate
    server = start_bontebok(args: ["-w", "1"], rackup: <<~RUBY)
      Bontebok::Parent.prepend(Module.new do
        def initialize(*)
          super
          return if File.exist?("once")

          File.write("once", "")
          sleep(0.001) until File.exist?("begun")
          trap("INT", "DEFAULT")
          Process.kill("INT", Process.pid)
        end
      end)
      run ->(_) { [200, { "content-type" => "text/plain" }, File.write("begun", "") && [File.read("#{gate}")]] }
    RUBY
    server.connect do |client|
      client.request("GET", "/")
      server.wait_for_output(/SIGINT ends this process.* ready after/m)
      open_gate
      assert_equal 200, client.read_response.status
    end
    server.wait_for_output(/worker .*has left: exit status 0/)
  end

  # The master ends a new worker in this way, for example when a deploy fails.
  def test_term_before_a_worker_has_handlers_is_no_error
    server = start_bontebok(args: ["-w", "1"], rackup: <<~RUBY)
      Bontebok::WorkerTitle.prepend(Module.new do
        def initialize(*)
          super
          Process.kill("TERM", Process.pid) if File.exist?("next") && File.unlink("next")
        end
      end)
      run ->(_) { [200, {}, ["ok"]] }
    RUBY
    server.wait_for_output(/ ready in \d+ ms$/)
    temp_file("next")
    server.signal("TTIN")
    server.wait_for_output(/killed by SIGTERM.*w2 g1 ready/m)
    refute_match(/ error /, server.output.text)
  end

  # The server runs the configuration file before it handles signals. In this test, the configuration file polls for the
  # file "go" and opens no FIFO, because a signal would interrupt the open.
  def test_the_operators_signals_do_not_end_a_server_that_starts
    temp_file("bontebok.rb", "$stderr.puts('starts')\nsleep(0.01) until File.exist?('go')\n")
    %w[0 1].each do |workers|
      server = start_bontebok(args: ["-w", workers, "-c", "bontebok.rb"], rackup: GATED_APP, ready: false)
      server.wait_for_output(/starts/)
      %w[HUP USR1 USR2].each { |name| server.signal(name) }
      go = temp_file("go")
      server.wait_until_ready
      assert_equal 200, server.get.status
      server.stop
      File.unlink(go)
    end
  end

  # Under nohup, the server ignores HUP. The application's commands must ignore HUP, too, so that they survive the end
  # of the terminal.
  def test_hup_that_is_ignored_at_the_start_stays_ignored
    %w[0 1].each do |workers|
      server = start_bontebok(args: ["-w", workers], rackup: IGNORED_APP, under: "nohup")
      server.wait_for_output(/ ready in \d+ ms$/)
      Process.kill("HUP", -server.pid)
      server.signal("USR2")
      server.wait_for_output(/SIGUSR2/)
      assert_equal ["HUP"], server.get.body.split
      refute_match(/opened again/, server.output.text)
      server.stop
    end
  end

  def test_commands_of_the_application_have_default_dispositions
    [%w[-w 0], %w[-w 1], %w[-w 1 --preload false]].each do |args|
      server = start_bontebok(args: args, rackup: IGNORED_APP)
      assert_empty server.get.body.split
      assert_empty server.output.text.scan(/ignored while loading: (.+)/)
      server.stop
    end
  end
end
