# frozen_string_literal: true

require_relative "support"
require "bontebok/cli/bench_command"

require "fileutils"
require "rbconfig"

# How the program comes into being, and how `bontebok bench` finds it.
class BuildTest < LoadTest
  # The calls that RubyGems makes, from a folder that is not the sources'. Theirs is a copy: the path to this checkout
  # may have a space, which make does not know.
  def test_the_extension_installs_where_it_is_told_to
    %w[ext/bontebok_bench load/src].each { |folder| copy(folder, File.join(temp_dir, "gem")) }
    run_in_build_folder(RbConfig.ruby, "../gem/ext/bontebok_bench/extconf.rb")
    run_in_build_folder("make", "clean")
    run_in_build_folder("make", "sitearchdir=./made")
    run_in_build_folder("make", "install", "DESTDIR=", "sitearchdir=./made")
    program = File.join(build_folder, "made/bontebok/bontebok-bench")
    assert File.executable?(program)
    run_in_build_folder("make", "distclean")
    assert_equal ["made"], Dir.children(build_folder)
    assert_includes Support::ChildProcess.run(program, "--help").output.text, "Usage: bontebok bench"
  end

  def test_the_command_finds_it_in_the_load_path
    program = File.join(temp_dir, "bontebok/bontebok-bench")
    FileUtils.mkdir_p(File.dirname(program))
    FileUtils.cp(LoadTest::PROGRAM, program)
    process = run_command(temp_dir, "--json", "-n", "1", refusing_url)
    assert_equal 1, JSON.parse(process.output.text(:stdout))["errors"]["refused"]
    assert_equal 1, process.status.exitstatus
    assert_equal 2, run_command(temp_dir, "--nonsense").status.exitstatus
  end

  def test_the_command_says_when_it_is_not_built
    process = run_command(File.join(temp_dir, "empty"), "--help")
    assert_equal 1, process.status.exitstatus
    assert_match(/\Abontebok bench: bontebok-bench is not built; .+\n\z/, process.output.text)
  end

  private

  def copy(folder, to)
    FileUtils.mkdir_p(File.dirname(File.join(to, folder)))
    FileUtils.cp_r(File.join(ROOT, folder), File.join(to, folder))
  end

  def build_folder
    File.join(temp_dir, "build").tap { |folder| FileUtils.mkdir_p(folder) }
  end

  def run_in_build_folder(*command)
    process = Support::ChildProcess.run(*command, chdir: build_folder, limit: 300)
    assert_predicate process.status, :success?, process.output.text
  end

  # With a copy of the command alone, and without Bundler's load path: the program of this checkout is not meant.
  def run_command(load_path, *arguments)
    command = temp_file("lib/cli/command.rb", File.read(File.join(ROOT, "lib/bontebok/cli/bench_command.rb")))
    Support::ChildProcess.run(RbConfig.ruby, "--disable=gems", "-I", load_path, "-r", command,
                              "-e", "exit Bontebok::BenchCommand.run(ARGV)", "--", *arguments,
                              env: { "RUBYOPT" => nil, "RUBYLIB" => nil })
  end
end
