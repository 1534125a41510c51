# frozen_string_literal: true

require "open3"
require "test_helper"
require "support/runner/changes"
require "support/runner/groups"

# Tests which groups a changed file can break.
class ChangesTest < Support::TestCase
  ALL = Runner::Groups.all.map(&:name).freeze

  # { path => [groups that must run if the path has changed, groups that must not run] }
  EXAMPLES = {
    "core/src/http/h1_head.c" => [%w[core arm64 fuzz ext ext-rack conform unit], %w[memory]],
    "core/src/representation/mime_types.c" => [%w[core arm64 fuzz ext lint], %w[memory]],
    "core/test/representation/mime_types_test.c" => [%w[core arm64 fuzz], %w[ext integration]],
    "core/mime_types.rb" => [%w[lint], %w[core integration]],
    "core/include/bontebok.h" => [%w[core arm64 fuzz ext ext-rack unit], %w[memory]],
    "core/src/conn/conn.h" => [%w[core threads integration timing-core timing], %w[arm64 fuzz]],
    "core/test/conn/conn_test.c" => [%w[core threads timing-core], %w[ext integration timing]],
    "core/test/support/fail_alloc.h" => [%w[core arm64], %w[ext]],
    "ext/bontebok/request/rb_env.c" => [%w[ext ext-rack conform unit], %w[core]],
    "load/src/report/histogram.c" => [%w[load integration timing], %w[core unit]],
    "lib/bontebok/cli/bench_program.rb" => [%w[load integration timing], %w[ext]],
    "lib/bontebok/config/config.rb" => [%w[unit ext ext-rack integration], %w[core]],
    "docs/PERL.md" => [%w[interop psgi lint], ALL - %w[interop psgi lint]],
    "test/interop/psgi/support/plackup.rb" => [%w[psgi lint], ALL - %w[psgi lint]],
    "test/interop/support/nginx.rb" => [%w[interop psgi lint], %w[integration]],
    "docs/RAILS.md" => [%w[interop lint], ALL - %w[interop lint]],
    "lib/bontebok/workers/rack_env.rb" => [%w[unit ext-rack conform], %w[core]],
    "lib/bontebok/cli/cli.rb" => [%w[unit integration interop], %w[core ext]],
    "test/unit/cli/cli_test.rb" => [%w[unit lint], %w[integration]],
    "test/timing/load_kill_test.rb" => [%w[timing lint], %w[integration]],
    "docs/TESTING.md" => [%w[lint], ALL - %w[lint]],
    "README.md" => [%w[interop lint], ALL - %w[interop lint]],
    "bin/test" => [ALL, []],
    "test/support/client.rb" => [ALL, []],
    "something/new" => [ALL, []]
  }.freeze

  EXAMPLES.each do |path, (some, none)|
    define_method("test_a_change_of_#{path.tr("/", "_")}_runs_its_groups") do
      groups = Runner::Changes.groups_of(path, ALL)
      assert_empty some - groups
      assert_empty none & groups
    end
  end

  # On a branch, the branch's commits count. Uncommitted changes and new files count, too.
  def test_changes_since_main_and_uncommitted_changes_count
    repository do
      commit("README.md")
      git("checkout", "-q", "-b", "work")
      commit("lib/a.rb")
      assert_equal %w[lib/a.rb], Runner::Changes.paths(nil)
      temp_file("core/fuzz/new.c")
      assert_equal %w[core/fuzz/new.c lib/a.rb], Runner::Changes.paths(nil).sort
      File.write("README.md", "changed")
      assert_equal %w[README.md core/fuzz/new.c], Runner::Changes.paths("HEAD").sort
    end
  end

  def test_the_last_commit_counts_on_main
    repository do
      commit("lib/a.rb")
      commit("core/fuzz/a.c")
      assert_equal %w[core/fuzz/a.c], Runner::Changes.paths(nil)
      assert_raises(ArgumentError) { Runner::Changes.paths("nonsense") }
    end
  end

  private

  def repository(&block)
    Dir.chdir(temp_dir) do
      git("init", "-q", "-b", "main")
      commit("first")
      block.call
    end
  end

  def commit(path)
    temp_file(path, "text")
    git("add", path)
    git("-c", "user.name=a", "-c", "user.email=a@a.example", "commit", "-q", "-m", path)
  end

  def git(*arguments)
    output, status = Open3.capture2e("git", *arguments)
    assert status.success?, output
  end
end
