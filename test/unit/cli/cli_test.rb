# frozen_string_literal: true

require "test_helper"
require "bontebok/cli/cli"

# Tests the output and the exit status of the command if it starts no server.
class CLITest < Support::TestCase
  def test_help_lists_the_options
    status, out, err = run_cli("--help")
    assert_equal [0, ""], [status, err]
    assert_match(/\AUsage: bontebok /, out)
    assert_match(/^ {6}--max-request-per-child N +Requests after which a worker is replaced \[0\]$/, out)
    assert_equal "bontebok --help OPTION describes one option.\n", out.lines.last
  end

  def test_help_of_an_option_lists_its_names_and_default
    status, out, err = run_cli("--help", "-w")
    assert_equal [0, "", "MaxWorkers\n"], [status, err, out.lines.first]
    assert_includes out.tr("\n", " "), Bontebok::OptionTable[:max_workers].help
    assert_equal <<~TEXT, out[/^Default.*/m]
      Default             auto
      Command line        -w, --max-workers, --workers N|auto
      Environment         WEB_CONCURRENCY
      Configuration file  max_workers, workers
    TEXT
  end

  def test_help_of_a_switch_shows_that_no_file_can_set_it
    out = run_cli("--help", "IgnoreUnknown")[1]
    assert_equal <<~TEXT, out[/^Default.*/m]
      Default             false
      Command line        --[no-]ignore-unknown
      Environment         none
      Configuration file  none
    TEXT
  end

  def test_help_of_an_unknown_option_is_an_error
    assert_equal [2, "", "bontebok: unknown option WorkerTimout. Did you mean worker_timeout?\n"],
                 run_cli("--help", "WorkerTimout")
  end

  def test_version_is_printed
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

  def test_check_lists_ignored_options
    path = temp_file("unicorn.rb", "worker_exec true\n")
    out = run_cli("--check", "-c", path, "--ignore-unknown")[1]
    assert_equal "#{path}:1: unknown option worker_exec is ignored\n", out.lines.last
  end

  def test_check_of_a_wrong_value_exits_with_two
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
