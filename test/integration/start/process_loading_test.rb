# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# Signals while the application loads (see docs/SIGNALS.md).
class ProcessLoadingTest < Support::TestCase
  include ProcessTree

  def test_a_stop_works_while_the_application_loads
    [%w[TERM -w 1], %w[TERM -w 2 --preload false], *%w[TERM QUIT INT].product(["-w"], ["0"])].each do |signal, *args|
      server = start_bontebok(ready: false, args: [*args, "--pidfile", "a.pid"], rackup: <<~RUBY)
        begin
          sleep if $stderr.puts("loading").nil?
        rescue SignalException
          retry
        end
      RUBY
      server.wait_for_output(/loading/)
      assert_equal 0, server.stop(signal).exitstatus, [signal, *args].join(" ")
      server.wait_for_output(/loading\n.* info #{server.pid} \S+ \S+ stopped\n\z/)
      refute_match(/wants to be replaced/, server.output.text)
      assert_equal ["config.ru"], Dir.children(temp_dir)
    end
  end

  # The worker has told the master that it is loaded, but not yet that it is ready.
  def test_a_stop_works_while_the_hook_of_a_worker_runs
    server = start_in_hook
    assert_equal 0, server.stop("TERM").exitstatus
    refute_match(/ (warn|error) /, server.output.text)
  end

  def test_a_worker_whose_hook_runs_leaves_with_its_master
    server = start_in_hook
    worker = workers(server).first
    master = master(server).pid
    # The supervisor is frozen first. If the supervisor ran, it would start another master. If the supervisor died
    # before the master, the master would tell the worker to drain.
    stop_process(server.pid)
    Process.kill("KILL", master, server.pid)
    eventually { gone?(worker) }
    assert gone?(worker)
    server.wait_for_output(/leaves before it serves: the master is gone/)
  end

  # After the bind, other programs may know the pid, and may send HUP to rotate logs.
  def test_hup_does_not_end_a_server_that_binds
    temp_file("hup.rb", <<~RUBY)
      require "bontebok/sockets/listeners"
      Bontebok::Listeners.prepend(Module.new { def bind = super.tap { Process.kill("HUP", Process.pid) } })
    RUBY
    [%w[-w 0], %w[-w 1]].each do |args|
      server = start_bontebok(args: [*args, "-c", "hup.rb"], rackup: GATED_APP)
      server.wait_for_output(/log files are opened again/)
      assert_equal 200, server.get.status
      server.stop
    end
  end

  # The application polls for a file, because a signal interrupts the open of a FIFO. Up to Ruby 3.1, an interrupted
  # open raises.
  def test_hup_usr1_and_usr2_do_not_end_processes_that_load
    [%w[-w 0], %w[-w 1], %w[-w 1 --preload false]].each do |args|
      server = start_bontebok(ready: false, args: args,
                              rackup: "$stderr.puts 'loading'\nsleep 0.01 until File.exist?('go')\n#{GATED_APP}")
      server.wait_for_output(/loading/)
      %w[HUP USR1 USR2].each { |signal| Process.kill(signal, -server.pid) }
      server.wait_for_output(/log files are opened again/)
      server.wait_for_output(/SIGUSR2: the server still starts/)
      temp_file("go")
      server.wait_until_ready
      assert_equal 200, server.get.status
      server.stop
      File.unlink(temp_file("go"))
    end
  end

  # A terminal sends INT to every process. Only the supervisor stops the server at INT.
  def test_int_from_a_terminal_ends_neither_a_master_nor_a_worker_that_loads
    [%w[-w 1], %w[-w 1 --preload false]].each do |args|
      server = start_bontebok(ready: false, args: args,
                              rackup: "$stderr.puts 'loading'\nsleep 0.01 until File.exist?('go')\n#{GATED_APP}")
      server.wait_for_output(/loading/)
      former = [master(server).pid, *workers(server)].each { |pid| Process.kill("INT", pid) }
      temp_file("go")
      server.wait_until_ready
      assert_empty former - [master(server).pid, *workers(server)]
      server.stop("INT")
      refute_match(/ warn /, server.output.text)
      File.unlink(temp_file("go"))
    end
  end

  def test_processes_that_the_application_forks_while_it_loads_obey_signals_as_usual
    signals = %w[TERM QUIT INT HUP USR1 USR2]
    [%w[-w 0], %w[-w 1], %w[-w 1 --preload false]].each do |args|
      server = start_bontebok(args: args, rackup: <<~RUBY)
        #{signals}.each do |signal|
          fork do
            trap(signal) { exit } if signal.start_with?("USR") # their default runs no ensure
            sleep if $stderr.puts("forked for \#{signal}: \#{Process.pid}").nil?
          ensure
            $stderr.puts "ensured after \#{signal}"
          end
        end
        #{GATED_APP}
      RUBY
      signals.each do |signal|
        Process.kill(signal, server.wait_for_output(/forked for #{signal}: (\d+)/)[1].to_i)
        server.wait_for_output(/ensured after #{signal}$/)
      end
      assert_empty signals - server.output.text.scan(/ensured after (\w+)$/).flatten
      server.stop
    end
  end

  def test_forked_processes_have_the_signal_handlers_of_the_application
    server = start_bontebok(args: %w[-w 1], rackup: <<~RUBY)
      trap("TERM") { exit!($stderr.write("my own handler\n") && 0) }
      fork { sleep if $stderr.puts("forked: \#{Process.pid}").nil? }
      #{GATED_APP}
    RUBY
    Process.kill("TERM", server.wait_for_output(/forked: (\d+)/)[1].to_i)
    server.wait_for_output(/my own handler$/)
    assert_includes server.output.text, "my own handler\n"
    server.stop
  end

  # While the application loads, a separate thread handles signals. In this test, the thread has taken TERM from the
  # queue, but handles TERM only when the application is loaded and the main thread waits.
  def test_a_stop_at_the_end_of_loading_is_obeyed
    server = start_bontebok(ready: false, args: %w[-w 0], rackup: <<~RUBY)
      Bontebok::SignalQueue.prepend(Module.new do
        def take
          super.tap { ($taken = true) && (Thread.pass until Thread.main.stop? || Thread.current == Thread.main) }
        end
      end)
      run ->(_) { [200, {}, []] }
      Process.kill("TERM", Process.pid)
      Thread.pass until $taken
    RUBY
    assert_equal 0, server.wait.exitstatus
    refute_match(/ ready in /, server.output.text)
  end

  private

  def start_in_hook
    temp_file("hook.rb", "after_worker_ready { sleep if $stderr.puts('in the hook').nil? }\n")
    start_bontebok(ready: false, args: %w[-w 1 -c hook.rb], rackup: GATED_APP).tap do |server|
      server.wait_for_output(/in the hook/)
    end
  end
end
