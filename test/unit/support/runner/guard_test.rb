# frozen_string_literal: true

require "test_helper"

# Tests that no process and no directory is left when a guarded program ends, in whatever way.
class GuardTest < Support::TestCase
  # Prints the pids of the guard, of the program and of its descendants, and the path of a temporary directory. The
  # descendants: a process in a session of its own, a frozen one, one that has lost its parent and has no environment,
  # one that ignores signals.
  PROGRAM = <<~'RUBY'
    require "#{ARGV.shift}/test/support/runner/guard"
    Runner::Guard.keep(patience: ARGV.shift.to_f)
    require "tmpdir"
    directory = Dir.mktmpdir("bontebok-test-")
    pids = [Process.ppid, Process.pid, spawn("setsid", "sleep", "60"), frozen = spawn("sleep", "60")]
    Process.kill("STOP", frozen)
    lost, writer = IO.pipe
    Process.wait(spawn("setsid sh -c 'env -i sleep 60 >/dev/null & echo $!' &", out: writer))
    pids << lost.gets.to_i
    pids << fork { trap("TERM", "IGNORE") && sleep }
    eval(ARGV.shift)
    begin
      $stdout.syswrite("ready #{pids.join(' ')} #{directory}\n")
      ARGV.empty? ? sleep : exit(ARGV.shift.to_i)
    ensure
      $stdout.syswrite("ensured\n")
    end
  RUBY
  # A directory that only root can empty.
  CLOSED = <<~'RUBY'
    Dir.mkdir("#{directory}/a")
    File.write("#{directory}/a/b", "")
    File.chmod(0, "#{directory}/a")
  RUBY
  # Starts its arguments, prints the pid, and waits.
  PARENT = "pid = spawn(*ARGV); $stdout.syswrite(\"script \#{pid}\\n\"); Process.wait(pid)"
  READY = /^ready ([\d ]+) (\S+)$/

  def test_a_program_that_ends_leaves_nothing
    script = start("", "3")
    assert_equal 3, script.wait.exitstatus
    assert_nothing_left(script)
  end

  def test_a_user_leaves_no_directory_that_cannot_be_written_to
    File.chmod(0o1777, temp_dir)
    user = Process.euid.zero? ? %w[setpriv --reuid nobody --clear-groups] : []
    script = start(CLOSED, "0", under: user)
    assert_predicate script.wait, :success?
    assert_nothing_left(script)
  end

  def test_a_signal_ends_the_program_and_all_that_it_has_started
    %w[INT TERM HUP KILL].each do |signal|
      script = start("trap('TERM') { exit(7) }")
      script.wait_for_output(READY)
      # As timeout(1) does, which is in the group of its command.
      Process.kill(signal, signal == "KILL" ? -script.pid : script.pid)
      status = script.wait
      assert_equal signal == "TERM" ? 7 : Signal.list[signal], status.exitstatus || status.termsig
      assert_nothing_left(script)
      script.output.wait_for_end(60)
      assert_equal signal != "KILL", script.output.text.include?("ensured")
    end
  end

  def test_a_program_that_does_not_end_after_a_signal_is_killed
    script = start("trap('TERM', 'IGNORE')", patience: 0)
    script.wait_for_output(READY)
    script.signal("TERM")
    assert_equal 128 + Signal.list["KILL"], script.wait.exitstatus
    assert_nothing_left(script)
  end

  def test_the_end_of_the_parent_ends_the_program
    parent = start("", under: [RbConfig.ruby, "-e", PARENT])
    parent.wait_for_output(READY)
    parent.signal("KILL")
    parent.wait_for_output(/^ensured$/)
    assert_nothing_left(parent, parent.output.text[/^script (\d+)$/, 1])
  end

  private

  # code: Ruby. end_at_once: the program's exit status; without it, the program sleeps.
  def start(code, *end_at_once, patience: 30, under: [])
    start_process(*under, RbConfig.ruby, "--disable=gems", "-e", PROGRAM, ROOT, patience.to_s, code, *end_at_once,
                  env: { "TMPDIR" => temp_dir })
  end

  def assert_nothing_left(script, *others)
    pids, directory = script.wait_for_output(READY).captures
    [*pids.split, *others].each do |pid|
      eventually("the end of #{pid}") { Support::ProcessTable.entry(pid.to_i).nil? }
    end
    assert directory.start_with?("#{temp_dir}/bontebok-")
    eventually("the removal of #{directory}") { Dir.empty?(temp_dir) }
  end
end
