# frozen_string_literal: true

require "test_helper"
require "support/runner/areas"
require "support/runner/groups"

# Tests which tests bin/test --changed chooses.
class AreasTest < Support::TestCase
  ALL = Runner::Groups.default.map(&:name).freeze

  def test_a_test_file_runs_alone
    assert_equal({ "unit" => ["test/unit/cli/cli_test.rb"], "lint" => nil }, selection("test/unit/cli/cli_test.rb"))
    assert_equal %w[soak lint], selection("test/soak/soak_test.rb").keys
    file = "test/interop/psgi/carton_test.rb"
    assert_equal({ "psgi" => [file], "lint" => nil }, selection(file))
  end

  # Also by way of another file, and in another group.
  def test_a_support_file_runs_the_tests_that_load_it
    chosen = selection("test/integration/support/process_tree.rb")
    assert_equal %w[integration interop lint timing], chosen.keys.sort
    assert_includes chosen["integration"], "test/integration/replace/control_test.rb"
    assert_includes chosen["timing"], "test/timing/load_kill_test.rb"
    refute_includes chosen["integration"], "test/integration/start/check_test.rb"
    chosen = selection("test/interop/support/test_case.rb")
    assert_equal %w[interop lint psgi], chosen.keys.sort
    assert_includes chosen["psgi"], "test/interop/psgi/directory_test.rb"
  end

  def test_a_file_of_lib_runs_the_tests_of_its_area
    chosen = selection("lib/bontebok/processes/forked_process.rb")
    assert_equal %w[integration lint unit], chosen.keys.sort
    assert_includes chosen["unit"], "test/unit/processes/forked_process_test.rb"
    assert_includes chosen["integration"], "test/integration/replace/deploy_test.rb"
    refute_includes chosen["integration"], "test/integration/logs/log_test.rb"
  end

  # Tests of other directories that use the files.
  def test_an_area_has_tests_of_other_directories
    assert_includes selection("lib/bontebok/processes/single_process.rb")["integration"],
                    "test/integration/start/start_directory_test.rb"
    assert_includes selection("lib/bontebok/cli/control_command.rb")["integration"],
                    "test/integration/replace/canary_test.rb"
    assert_equal %w[test/unit/sockets/worker_links_test.rb test/unit/system/held_signals_test.rb],
                 selection("ext/bontebok/rb_process.c")["unit"].sort
  end

  def test_a_whole_group_includes_its_files
    chosen = selection("lib/bontebok/workers/worker.rb", "lib/bontebok/processes/forked_process.rb", "Gemfile")
    assert_equal ALL.sort, chosen.keys.sort
    assert_empty chosen.values.compact
  end

  # Also those without a row.
  def test_each_file_has_its_tests
    assert_equal ALL, selection("something/new").keys
    assert_equal %w[lint], selection("docs/TESTING.md").keys
    assert_includes selection("core/src/conn/conn.c").keys, "threads"
  end

  private

  def selection(*paths) = Dir.chdir(ROOT) { Runner::Areas.selection(paths, ALL) }
end
