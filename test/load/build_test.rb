# frozen_string_literal: true

require_relative "support"
require "bontebok/cli/bench_command"

require "fileutils"
require "rbconfig"

# Tests how bontebok-bench is built, and how `bontebok bench` finds this program.
class BuildTest < LoadTest
  # Runs the commands that RubyGems runs, in a directory outside of the sources. The sources are copied, because make
  # cannot handle a space in the path of this checkout.
  def test_the_extension_installs_into_sitearchdir
    %w[ext/bontebok_bench load/src].each { |directory| copy(directory, File.join(temp_dir, "gem")) }
    run_in_build_directory(RbConfig.ruby, "../gem/ext/bontebok_bench/extconf.rb")
    run_in_build_directory("make", "clean")
    run_in_build_directory("make", "sitearchdir=./made")
    run_in_build_directory("make", "install", "DESTDIR=", "sitearchdir=./made")
    program = File.join(build_directory, "made/bontebok/bontebok-bench")
    assert File.executable?(program)
    run_in_build_directory("make", "distclean")
    assert_equal ["made"], Dir.children(build_directory)
    assert_includes Support::ChildProcess.run(program, "--help").output.text, "Usage: bontebok bench"
  end

  def test_the_command_finds_the_program_in_the_load_path
    program = File.join(temp_dir, "bontebok/bontebok-bench")
    FileUtils.mkdir_p(File.dirname(program))
    FileUtils.cp(LoadTest::PROGRAM, program)
    process = run_command(temp_dir, "--json", "-n", "1", refusing_url)
    assert_equal 1, JSON.parse(process.output.text(:stdout))["errors"]["refused"]
    assert_equal 1, process.status.exitstatus
    assert_equal 2, run_command(temp_dir, "--nonsense").status.exitstatus
  end

  def test_the_command_says_that_the_program_is_not_built
    process = run_command(File.join(temp_dir, "empty"), "--help")
    assert_equal 1, process.status.exitstatus
    assert_match(/\Abontebok bench: bontebok-bench is not built; .+\n\z/, process.output.text)
  end

  private

  def copy(directory, to)
    FileUtils.mkdir_p(File.dirname(File.join(to, directory)))
    FileUtils.cp_r(File.join(ROOT, directory), File.join(to, directory))
  end

  def build_directory
    File.join(temp_dir, "build").tap { |directory| FileUtils.mkdir_p(directory) }
  end

  def run_in_build_directory(*command)
    process = Support::ChildProcess.run(*command, chdir: build_directory, limit: 300)
    assert_predicate process.status, :success?, process.output.text
  end

  # Runs a copy of the command alone, without Bundler's load path, so that the copy does not find the program of this
  # checkout.
  def run_command(load_path, *arguments)
    command = temp_file("lib/cli/command.rb", File.read(File.join(ROOT, "lib/bontebok/cli/bench_command.rb")))
    Support::ChildProcess.run(RbConfig.ruby, "--disable=gems", "-I", load_path, "-r", command,
                              "-e", "exit Bontebok::BenchCommand.run(ARGV)", "--", *arguments,
                              env: { "RUBYOPT" => nil, "RUBYLIB" => nil })
  end
end
