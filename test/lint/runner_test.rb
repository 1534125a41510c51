# frozen_string_literal: true

require "test_helper"
require "support/runner/groups"
require "support/runner/options"

# Tests that bin/test and its tables fit the files of this tree. Each changed file runs this group.
class RunnerTest < Support::TestCase
  ALL = Runner::Groups.all.map(&:name).freeze

  # Each test file is in exactly one job, except files of test/ext and test/conform. They also run with the build for
  # systems without Linux. Files of test/ext are in one job for each release of Rack. The files of
  # test/interop/rails belong to the Rails application that a test starts.
  def test_every_test_file_runs
    files = Runner::Options.new(["--full"]).groups.flat_map(&:jobs).flat_map { |job| job.command.grep(/_test\.rb\z/) }
    ext = Dir.glob("test/ext/**/*_test.rb", base: ROOT)
    conform = Dir.glob("test/conform/*_test.rb", base: ROOT)
    all = Dir.glob("test/**/*_test.rb", base: ROOT).grep_v(%r{\Atest/interop/rails/})
    assert_equal (all + (ext * 4) + conform).sort, files.sort
  end

  def test_every_test_file_in_perl_runs
    groups = Runner::Options.new(["--full"]).groups
    files = groups.flat_map(&:jobs).flat_map { |job| job.command.grep(/\.t\z/) }
    assert_equal Dir.glob("{t,xt}/**/*.t", base: File.join(ROOT, "perl")).sort, files.sort
  end

  def test_the_table_names_only_groups_that_exist
    assert_empty Runner::Changes::TABLE.values.flatten.uniq - ALL - %w[own]
    own = Dir.glob("{unit,integration,conform,interop,timing,soak,load}", base: File.join(ROOT, "test"))
    assert_equal 7, own.size
    assert_empty own - ALL
  end

  def test_each_changed_file_runs_this_group
    assert(Runner::Changes::TABLE.each_value.all? { |groups| groups.include?("lint") })
  end

  def test_each_pattern_matches_a_file_that_exists
    files = Dir.glob("{*,.*,{core,ext,load,perl,lib,exe,test,bench,docs,examples}/**/*}", base: ROOT)
    Runner::Changes::TABLE.each_key { |pattern| assert files.any?(pattern), pattern.inspect }
  end

  # A directory that moves takes its row with it.
  def test_each_row_names_a_directory_and_tests_that_exist
    Runner::Areas::INTEGRATION.each do |name, targets|
      assert Dir.exist?("#{ROOT}/lib/bontebok/#{name}"), name
      targets.grep(/:/) do |target|
        assert_predicate Dir.glob("#{ROOT}/test/#{target.tr(":", "/")}_test.rb"), :any?, target
      end
    end
  end

  def test_only_tests_in_timing_and_soak_run_once_more
    Dir.glob("#{ROOT}/test/**/*_test.rb").each do |file|
      next if File.realpath(file) == File.realpath(__FILE__) || file.end_with?("/unit/support/once_more_test.rb")

      alone = file.match?(%r{/test/(timing|soak)/})
      assert_equal alone, File.read(file).include?("Support::OnceMore"), file
    end
  end
end
