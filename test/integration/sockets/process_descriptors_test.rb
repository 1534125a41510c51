# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# Processes that the application forks, and commands that it executes, do no harm to the server or its clients.
class ProcessDescriptorsTest < Support::TestCase
  include ProcessTree

  FORKING_THREAD = <<~RUBY
    Thread.new do
      File.read("gate")
      fork { sleep if $stderr.puts("asleep: " + Process.pid.to_s).nil? }
    end
  RUBY

  def test_a_command_has_descriptors_0_to_2_only
    [%w[-w 1], %w[-w 0]].each do |args|
      server = start_bontebok(args: args, 7 => $stdin, rackup: <<~RUBY)
        AT_LOAD = `ls /proc/self/fd`
        run ->(env) { [200, {}, [AT_LOAD, "|", `ls /proc/self/fd`]] }
      RUBY
      # Descriptor 3 is the directory that ls reads.
      assert_equal "0\n1\n2\n3\n|0\n1\n2\n3\n", server.get.body
      server.stop
    end
  end

  def test_a_command_obeys_signals_as_usual
    server = start_bontebok(args: ["-w", "1"], rackup: <<~RUBY)
      run(lambda do |env|
        kill = "kill -" + env["QUERY_STRING"] + " $$"
        [200, {}, [Signal.signame(Process.wait2(spawn("sh", "-c", kill)).last.termsig)]]
      end)
    RUBY
    %w[TERM PIPE XFSZ].each { |signal| assert_equal signal, server.get("/?#{signal}").body }
  end

  def test_a_forked_sleeper_does_not_keep_the_client_waiting
    server = start_bontebok(args: ["-w", "1"], rackup: sleeper_app)
    server.connect do |client|
      client.write("GET / HTTP/1.0\r\n\r\n")
      @sleeper = client.read_response.body.to_i
      assert_equal :eof, client.wait_for_end
    end
    refute gone?(@sleeper)
  ensure
    end_sleeper
  end

  def test_a_forked_sleeper_does_not_keep_the_listener
    [%w[-w 1], %w[-w 0]].each do |args|
      server = start_bontebok(listen: :tcp, args: args, rackup: sleeper_app)
      @sleeper = server.get.body.to_i
      server.signal("TERM")
      assert_equal 0, server.wait.exitstatus
      refute gone?(@sleeper)
      assert_raises(Errno::ECONNREFUSED) { server.connect }
      end_sleeper
    end
  end

  # The daemon has redirected its standard streams. The reader of the log must get an end-of-file when the server ends.
  def test_a_daemon_of_the_application_does_not_keep_the_log
    server = start_bontebok(args: ["-w", "1"], rackup: <<~RUBY)
      run(lambda do |_|
        pid = fork do
          [$stdin, $stdout, $stderr].each { |stream| stream.reopen(File::NULL, "r+") }
          sleep
        end
        [200, {}, [pid.to_s]]
      end)
    RUBY
    @sleeper = server.get.body.to_i
    refute gone?(@sleeper)
    server.signal("TERM")
    assert_equal 0, server.wait.exitstatus
    server.output.wait_for_end
  ensure
    end_sleeper
  end

  def test_a_sleeper_forked_while_loading_keeps_no_process_alive
    server = start_bontebok(listen: :tcp, args: ["-w", "1"], rackup: <<~RUBY)
      SLEEPER = fork { sleep if $stderr.puts("asleep").nil? }
      run ->(_) { [200, {}, [SLEEPER.to_s]] }
    RUBY
    server.wait_for_output(/asleep/)
    @sleeper = server.get.body.to_i
    Process.kill("KILL", server.pid)
    eventually { server.group.map(&:pid) == [@sleeper] }
    assert_raises(Errno::ECONNREFUSED) { server.connect }
  ensure
    end_sleeper
  end

  # A process notices the death of its parent when the kernel closes the parent's end of a pipe or socket. The process
  # that the application forks (the sleeper) must not keep this end open.
  def test_a_sleeper_forked_by_a_thread_of_the_master_keeps_no_process_alive
    make_gate
    server = start_bontebok(args: ["-w", "2"], rackup: "#{FORKING_THREAD}#{GATED_APP}")
    server.wait_for_output(/ ready in \d+ ms$/)
    former = [master(server).pid, *workers(server)]
    let_it_fork(server)
    Process.kill("KILL", former.first)
    eventually { former.all? { |pid| gone?(pid) } }
    assert(former.all? { |pid| gone?(pid) })
  ensure
    end_sleeper
  end

  def test_a_sleeper_forked_by_a_thread_of_the_configuration_keeps_no_process_alive
    make_gate
    pid_file = "#{temp_dir}/a.pid"
    args = ["-w", "1", "-c", temp_file("bontebok.rb", FORKING_THREAD), "--pidfile", pid_file]
    server = start_bontebok(listen: :tcp, args: args, rackup: GATED_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    let_it_fork(server)
    server.signal("KILL")
    eventually { server.group.map(&:pid) == [@sleeper] }
    assert_raises(Errno::ECONNREFUSED) { server.connect }
    File.open(pid_file) { |file| assert file.flock(File::LOCK_EX | File::LOCK_NB), "the lock is kept" }
  ensure
    end_sleeper
  end

  def test_a_forked_process_obeys_signals_as_usual
    server = start_bontebok(args: ["-w", "1"], rackup: <<~RUBY)
      run(lambda do |_|
        reader, writer = IO.pipe
        pid = fork { sleep if writer.write("asleep") }
        Process.kill("TERM", pid) if reader.readpartial(6)
        [200, {}, [Process.wait2(pid).last.termsig.to_s]]
      end)
    RUBY
    assert_equal "15", server.get.body
  end

  def test_a_forked_process_that_ends_does_no_harm
    server = start_bontebok(args: ["-w", "1"], rackup: <<~RUBY)
      run(lambda do |_|
        Process.wait(fork { exit })
        GC.start
        [200, {}, [Process.pid.to_s]]
      end)
    RUBY
    assert_equal 1, Array.new(5) { server.get.body }.uniq.size
  end

  def test_the_soft_limit_of_descriptors_is_raised_to_the_hard_limit
    server = start_bontebok(args: ["-w", "1"], rlimit_nofile: [64, 128],
                            rackup: "run ->(_) { [200, {}, [Process.getrlimit(:NOFILE).join(' ')]] }")
    assert_equal "128 128", server.get.body
  end

  # setrlimit fails for users other than root if the hard limit is above fs.nr_open.
  def test_a_server_starts_although_the_limit_cannot_be_raised
    refusal = temp_file("refusal.rb", "def Process.setrlimit(*) = raise(Errno::EPERM)\n")
    server = start_bontebok(args: ["-w", "1"], rlimit_nofile: [64, 128], env: { "RUBYOPT" => "-r#{refusal}" },
                            rackup: "run ->(_) { [200, {}, [Process.getrlimit(:NOFILE).join(' ')]] }")
    assert_equal "64 128", server.get.body
    server.wait_for_output(/warn \d+ \S+ \S+ the limit of open files stays 64: Operation not permitted/)
  end

  private

  def sleeper_app
    <<~RUBY
      run(lambda do |_|
        reader, writer = IO.pipe
        pid = fork { sleep if writer.write("asleep") }
        [200, {}, [reader.readpartial(6) && pid.to_s]]
      end)
    RUBY
  end

  def let_it_fork(server)
    open_gate
    @sleeper = server.wait_for_output(/asleep: (\d+)/)[1].to_i
  end

  def end_sleeper
    Process.kill("KILL", @sleeper)
    eventually { gone?(@sleeper) }
  end
end
