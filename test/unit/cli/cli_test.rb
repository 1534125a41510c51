# frozen_string_literal: true

require "test_helper"
require "bontebok/cli/cli"

# What the command prints and returns when it does not serve.
class CLITest < Support::TestCase
  def test_help
    status, out, err = run_cli("--help")
    assert_equal [0, ""], [status, err]
    assert_match(/\AUsage: bontebok /, out)
    assert_match(/--max-request-per-child N/, out)
  end

  def test_version
    assert_equal [0, "bontebok #{Bontebok::VERSION}\n", ""], run_cli("--version")
  end

  def test_check_prints_each_value_and_where_it_comes_from
    path = temp_file("c.rb", "threads 3\n")
    status, out, = run_cli("--check", "-w", "2", "-c", path)
    rows = out.lines.map { |line| line.chomp.split(/ {2,}/) }
    assert_equal [0, Bontebok::OptionTable::ALL.map(&:name)], [status, rows.map(&:first)]
    [["MaxWorkers", "2", "command line"], ["Threads", "3", "#{path}:1"], %w[MaxTarget 16K default]].each do |row|
      assert_includes rows, row
    end
  end

  def test_check_tells_what_is_ignored
    path = temp_file("unicorn.rb", "worker_exec true\n")
    out = run_cli("--check", "-c", path, "--ignore-unknown")[1]
    assert_equal "#{path}:1: unknown option worker_exec is ignored\n", out.lines.last
  end

  def test_check_of_something_wrong
    assert_equal 2, run_cli("--check", "-w", "many").first
  end

  def test_a_fault_is_one_line_on_stderr
    assert_equal [2, "", "bontebok: unknown option --nonsense. See bontebok --help.\n"], run_cli("--nonsense")
    assert_equal [1, "", "bontebok: cannot read the rackup file /nonexistent.ru: No such file or directory\n"],
                 run_cli("/nonexistent.ru")
  end

  private

  def run_cli(*argv)
    status = nil
    out, err = capture_io { status = Bontebok::CLI.run(argv) }
    [status, out, err]
  end
end
