# frozen_string_literal: true

require "test_helper"
require_relative "../support/supervisor_case"

# Signals that arrive while the supervisor executes a program in its own place (`bontebok deploy --supervisor`).
class SupervisorSignalsTest < Support::TestCase
  include SupervisorCase

  def test_signals_that_arrive_while_the_program_starts
    release_with_bontebok(1, Bontebok::VERSION)
    server = start_release
    replace_slowly(server)
    %w[HUP USR1 USR2 TTIN TTOU].each { |name| server.signal(name) }
    FileUtils.touch("#{temp_dir}/go")
    server.wait_for_output(/the supervisor runs bontebok 99/)
    assert_serves 1, server
    server.signal("USR1")
    server.wait_for_output(/workers are replaced one after/)
    assert_equal 0, server.stop.exitstatus
  end

  def test_term_ends_the_program_that_starts_and_the_workers_finish
    release_with_bontebok(1, Bontebok::VERSION)
    server = start_release
    processes = [master(server), *workers(server)]
    replace_slowly(server)
    server.signal("TERM")
    assert_equal Signal.list["TERM"], server.wait.termsig
    eventually { processes.all? { |pid| gone?(pid) } }
  end

  # Ruby, RubyGems and Bundler have loaded; the supervisor does not handle signals yet.
  def test_term_waits_while_the_program_loads
    release_with_bontebok(1, Bontebok::VERSION)
    server = start_release
    replace_slowly(server, "lib/bontebok/cli/cli.rb")
    server.signal("TERM")
    FileUtils.touch("#{temp_dir}/go")
    assert_equal 0, server.wait.exitstatus
    assert_match(/the supervisor runs bontebok 99.*stopping.*stopped/m, server.output.text)
  end

  def test_signals_that_arrive_while_the_former_program_starts_again
    release_with_bontebok(1, Bontebok::VERSION)
    wait_in("releases/1/exe/bontebok", "failure")
    server = start_release
    release_with_bontebok(2, "99.1.2", "def masters\n", "\\0raise 'too late'\n")
    start_command(*COMMAND)
    server.wait_for_output(/^executed$/)
    %w[HUP USR1 USR2 TTIN TTOU].each { |name| server.signal(name) }
    FileUtils.touch("#{temp_dir}/go")
    server.wait_for_output(/the new program has failed: too late/)
    assert_serves 1, server
    assert_equal 0, server.stop.exitstatus
  end

  def test_term_is_not_lost_if_the_program_fails_later
    release_with_bontebok(1, Bontebok::VERSION)
    server = start_release
    replace_slowly(server, "lib/bontebok/cli/cli.rb", "def masters\n", "\\0raise 'too late'\n")
    server.signal("TERM")
    FileUtils.touch("#{temp_dir}/go")
    assert_equal 0, server.wait.exitstatus
    assert_match(/the new program has failed: too late.*stopping.*stopped/m, server.output.text)
  end
end
