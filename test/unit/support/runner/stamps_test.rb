# frozen_string_literal: true

require "test_helper"
require "support/runner/groups"
require "support/runner/stamps"

# Tests which groups bin/test leaves out because they have passed with the same inputs.
class StampsTest < Support::TestCase
  ALL = Runner::Groups.default.map(&:name).freeze
  Group = Struct.new(:name, :passed, :part) do
    def passed? = passed
    def part? = part
  end
  # A file for each group, and one for all.
  FILES = %w[core/src/conn/conn.c lib/bontebok/a.rb docs/a.md bin/test Gemfile.lock status].freeze

  def setup
    FILES.each { |path| temp_file(path, path) }
    temp_file(".gitignore", "tmp\n*.lock\nstatus\n")
    in_checkout { assert system("git", "init", "-q") }
  end

  def test_a_group_that_has_passed_is_left_out_until_an_input_changes
    group = Group.new("core", true)
    in_checkout do
      refute stamps.passed?(group)
      stamps.note([group])
      assert stamps.passed?(group)
      temp_file("lib/bontebok/a.rb", "changed")
      assert stamps.passed?(group)
      temp_file("core/src/conn/conn.c", "changed")
      refute stamps.passed?(group)
    end
  end

  def test_a_group_that_fails_or_does_not_end_or_runs_in_part_is_not_left_out
    group = Group.new("core", true)
    in_checkout do
      stamps.note([group])
      stamps.remove([group])
      refute stamps.passed?(group)
      stamps.note([Group.new("core", false), Group.new("core", true, true)])
      refute stamps.passed?(group)
    end
  end

  def test_a_group_whose_input_changes_while_it_runs_is_not_left_out
    group = Group.new("core", true)
    in_checkout do
      running = stamps
      running.passed?(group)
      temp_file("core/src/conn/conn.c", "changed")
      running.note([group])
      temp_file("core/src/conn/conn.c", FILES.first)
      refute stamps.passed?(group)
    end
  end

  # A new file, an executable file, and a file that no row of the table names are inputs, too.
  def test_each_file_of_a_group_is_an_input
    { "core/src/conn/conn.c" => "x", "core/src/conn/new.c" => "", "bin/test" => "x", "something/new" => "" }
      .each { |path, text| assert_input(path) { temp_file(path, text) } }
    assert_input("mode") { File.chmod(0o755, "core/src/conn/conn.c") }
    assert_input("removed") { File.unlink("core/src/conn/conn.c") }
    same = digest("core")
    temp_file("docs/a.md", "changed")
    assert_equal same, digest("core")
  end

  def test_the_directory_of_a_run_is_no_input
    former = ENV.fetch("TMPDIR", nil)
    same = digest("core")
    ENV["TMPDIR"] = temp_dir
    assert_equal same, digest("core")
  ensure
    ENV["TMPDIR"] = former
  end

  def test_the_machine_is_an_input
    assert_input("variable") { ENV["BONTEBOK_TEST_VARIABLE"] = "1" }
    assert_input("gems") { temp_file("Gemfile.lock", "changed") }
    assert_input("packages") { temp_file("status", "changed") }
    former = digest("core")
    stubs = { nprocessors: [Etc, 99], uname: [Etc, { release: "99" }], uid: [Process, 99], pwd: [Dir, "/elsewhere"],
              ruby: [RbConfig, "/elsewhere"], umask: [File, 0], getrlimit: [Process, [1, 2]] }
    stubs.each { |name, (one, value)| one.stub(name, value) { refute_equal former, digest("core"), name } }
  ensure
    ENV.delete("BONTEBOK_TEST_VARIABLE")
  end

  def test_a_group_with_unknown_inputs_runs
    temp_file("test/soak/a_test.rb")
    assert_nil digest("soak")
    File.unlink("#{temp_dir}/status")
    assert_nil digest("core")
    Open3.stub(:capture2, ->(*) { raise Errno::ENOENT }) { assert_nil digest("core") }
  end

  private

  def in_checkout(&) = Dir.chdir(temp_dir, &)

  def inputs = Runner::Inputs.new(ALL, packages: "#{temp_dir}/status")

  def stamps = Runner::Stamps.new { inputs }

  def digest(group) = in_checkout { inputs.digest(group) }

  def assert_input(name, &)
    former = digest("core")
    in_checkout(&)
    refute_equal former, digest("core"), name
  end
end
