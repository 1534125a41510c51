# frozen_string_literal: true

require "test_helper"
require "bontebok/cli/cli"
require "bontebok/cli/control_command"

# Tests the output and the exit status of the command if it starts no server.
class CLITest < Support::TestCase
  def test_help_lists_the_options
    status, out, err = run_cli("--help")
    assert_equal [0, ""], [status, err]
    assert_match(/\AUsage: bontebok /, out)
    assert_match(/^ {6}--max-request-per-child N +Requests after which a worker is replaced \[off\]$/, out)
    assert_match(/^ {6}--\[no-\]preload .*\n/, out)
    assert_match(/^  -p, --port PORT .*\n/, out)
    refute_match(/--spool-max/, out)
    assert_match(/--help all lists all 74 options, /, out.lines.last)
    assert_match(/^ {6}--spool-max SIZE /, run_cli("--help", "all")[1])
  end

  def test_help_of_a_word_lists_options
    assert_match(/\A.*--worker-boot-timeout .*--request-timeout .*\n\nbontebok --help OPTION .*\n\z/m,
                 run_cli("--help", "timeout")[1])
    refute_match(/--log/, run_cli("--help", "Timeout")[1])
    assert_match(/--max-worker-memory/, run_cli("help", "memory")[1])
    assert_match(/\A +--max-worker-memory .*smaps|\A +--max-worker-memory/, run_cli("--help", "smaps_rollup")[1])
  end

  def test_help_of_an_option_lists_its_names_and_default
    status, out, err = run_cli("--help", "-w")
    assert_equal [0, "", "max_workers\n"], [status, err, out.lines.first]
    assert_includes out.tr("\n", " "), Bontebok::OptionTable[:max_workers].help
    assert_equal <<~TEXT, out[/^Default.*/m]
      Default             0 in development, else auto
      Command line        -w, --max-workers, --workers N|auto
      Environment         WEB_CONCURRENCY
      Configuration file  max_workers, workers
      rackup              -O MaxWorkers=N|auto
    TEXT
  end

  def test_help_of_a_switch_shows_both_flags
    out = run_cli("--help", "ReusePort")[1]
    assert_equal <<~TEXT, out[/^Default.*/m]
      Default             false
      Command line        --[no-]reuse-port, --[no-]reuseport
      Environment         none
      Configuration file  reuse_port, reuseport
      rackup              -O ReusePort=true
    TEXT
  end

  def test_help_of_an_unknown_option_is_an_error
    assert_equal [2, "", "bontebok: unknown option WorkerTimout. Did you mean worker_timeout?\n"],
                 run_cli("--help", "WorkerTimout")
  end

  def test_version_is_printed
    assert_equal [0, "bontebok #{Bontebok::VERSION}\n", ""], run_cli("--version")
  end

  def test_help_and_version_may_be_words
    assert_equal [run_cli("--version"), run_cli("--help", "-w")], [run_cli("version"), run_cli("help", "-w")]
    %w[deploy workers bench].each { |command| assert_equal run_cli(command, "--help"), run_cli("help", command) }
    %w[deploy bench].each { |command| assert_equal run_cli(command, "--help"), run_cli("--help", command) }
    assert_match(/\Amax_workers\n/, run_cli("--help", "workers")[1])
    Dir.chdir(temp_dir) do
      temp_file("version", "")
      assert_match(/^rackup +version +command line$/, run_cli("version", "--check")[1])
    end
  end

  def test_a_command_of_another_server_is_answered_with_what_to_type
    assert_equal [2, "", "bontebok: there is no command start: `bontebok` starts the server\n"],
                 run_cli("start", "-w", "2")
    assert_match(/: there is no command phased-restart: `bontebok deploy` loads new code/, run_cli("phased-restart")[2])
    Dir.chdir(temp_dir) do
      temp_file("start", "")
      refute_match(/no command/, run_cli("start", "--check")[2])
    end
  end

  def test_words_of_later_commands_mean_no_rackup_file
    assert_equal [2, "", "bontebok: there is no command stats: `bontebok status --json` shows the numbers\n"],
                 run_cli("stats")
    assert_equal [2, "", "bontebok: unknown command threads, see bontebok --help\n"], run_cli("threads", "-w", "2")
    Dir.chdir(temp_dir) do
      temp_file("watch", "")
      assert_match(%r{unknown command watch, .*; \./watch is a file$}, run_cli("watch")[2])
      assert_match(%r{^rackup +\./watch +command line$}, run_cli("./watch", "--check")[1])
    end
  end

  def test_a_form_of_the_status_is_one_word
    assert_match(/\A--format wants another value than "yaml": .*text\|json\|csv\|puma\|mackerel$/,
                 run_cli("status", "--format", "yaml")[2].delete_prefix("bontebok: "))
    assert_equal [2, "", "bontebok: only one of --json, --csv and --format is possible\n"],
                 run_cli("top", "--json", "--format", "csv")
  end

  def test_a_fault_is_one_line_on_stderr
    assert_equal [2, "", "bontebok: unknown option --nonsense. See bontebok --help.\n"], run_cli("--nonsense")
    path = "#{temp_dir}/missing.ru"
    assert_equal [1, "", "bontebok: cannot read the rackup file #{path}: No such file or directory\n"], run_cli(path)
  end

  def test_an_argument_of_any_bytes_is_told
    { %w[workers] => "bontebok workers wants a number: N, +N or -N",
      %w[deploy --canary] => "--canary wants another value than \"\\xE9\": #{Bontebok::ControlCommand::EXAMPLE}" }
      .each { |argv, message| assert_equal [2, "", "bontebok: #{message}\n"], run_cli(*argv, "\xE9") }
    out = run_cli("--directory", "~\xE9")[2]
    assert_match(/\Abontebok: command line: cannot change to the directory ~\xE9: .*\n\z/n, out.b)
  end

  private

  def run_cli(*argv)
    status = nil
    out, err = capture_io { status = Bontebok::CLI.run(argv) }
    [status, out, err]
  end
end
