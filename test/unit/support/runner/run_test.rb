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

  def test_two_groups_run_only_with_full_or_by_name
    at_length = %w[memory soak]
    assert_equal Runner::Groups.all.map(&:name) - at_length, groups_of.map(&:name)
    assert_equal Runner::Groups.all.map(&:name), groups_of("--full").map(&:name)
    assert_equal at_length, groups_of("soak", "memory").map(&:name)
    refute_empty groups_of("memory").first.jobs
  end

  # Each test file is in exactly one job, except files of test/ext and test/conform. They also run with the build for
  # systems without Linux. Files of test/ext are in one job for each release of Rack. The files of
  # test/interop/rails belong to the Rails application that a test starts.
  def test_every_test_file_runs
    files = groups_of("--full").flat_map(&:jobs).flat_map { |job| job.command.grep(/_test\.rb\z/) }
    ext = Dir.glob("test/ext/**/*_test.rb", base: ROOT)
    conform = Dir.glob("test/conform/*_test.rb", base: ROOT)
    all = Dir.glob("test/**/*_test.rb", base: ROOT).grep_v(%r{\Atest/interop/rails/})
    assert_equal (all + (ext * 4) + conform).sort, files.sort
  end

  private

  def bin_test(*arguments)
    Support::ChildProcess.run(File.join(ROOT, "bin/test"), *arguments)
  end
end
