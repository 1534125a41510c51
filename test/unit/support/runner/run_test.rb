# frozen_string_literal: true

require "test_helper"
require "support/runner/groups"
require "support/runner/options"

# Tests the command line of bin/test.
class RunTest < Support::TestCase
  def groups_of(*arguments) = Runner::Options.new(arguments).groups

  def test_the_list_has_all_groups
    run = bin_test("--list")
    assert_predicate run.status, :success?
    assert_equal(Runner::Groups.all.map(&:name), run.output.lines(:stdout).map { |line| line[/\A\S+/] })
  end

  def test_wrong_arguments_are_errors
    { "--frobnicate" => /invalid option: --frobnicate/, "nonsense" => /no such group: nonsense; bin.test --list/,
      "--changed=nonsense" => /nonsense/ }.each do |argument, message|
      run = bin_test(argument)
      assert_equal 2, run.status.exitstatus, argument
      assert_match message, run.output.text(:stderr)
    end
  end

  # git seems to hang.
  def test_a_signal_before_the_first_group_ends_the_run
    File.chmod(0o755, temp_file("git", "#!/bin/sh\ntouch '#{temp_dir}/begun'\nexec sleep 60\n"))
    run = start_process(File.join(ROOT, "bin/test"), "--changed", env: { "PATH" => "#{temp_dir}:#{ENV.fetch("PATH")}" })
    eventually { File.exist?("#{temp_dir}/begun") }
    assert_equal 130, run.stop("INT").exitstatus
    refute_match(/NoMethodError/, run.output.text)
  end

  def test_two_groups_run_only_with_full_or_by_name
    at_length = %w[memory soak]
    assert_equal Runner::Groups.all.map(&:name) - at_length, groups_of.map(&:name)
    assert_equal Runner::Groups.all.map(&:name), groups_of("--full").map(&:name)
    assert_equal at_length, groups_of("soak", "memory").map(&:name)
    refute_empty groups_of("memory").first.jobs
  end

  private

  def bin_test(*arguments)
    Support::ChildProcess.run(File.join(ROOT, "bin/test"), *arguments)
  end
end
