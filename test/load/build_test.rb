# frozen_string_literal: true

require_relative "support"
require "bontebok/cli/bench_command"

require "fileutils"

# Tests how `bontebok bench` builds its program at the first use, and how it finds the program.
class BuildTest < LoadTest
  Program = Bontebok::BenchProgram

  def setup
    @own = File.join(temp_dir, "own")
    @cache = File.join(temp_dir, "cache")
    [@own, @cache].each { |directory| Dir.mkdir(directory) }
  end

  def test_the_first_use_builds_the_program_beside_the_files_of_the_gem
    announced = []
    path = program.path { announced << true }
    assert_equal [File.join(@own, "bontebok-bench"), [true], ["bontebok-bench"]], [path, announced, Dir.children(@own)]
    assert_includes Support::ChildProcess.run(path, "--help").output.text, "Usage: bontebok bench"
    assert_equal(path, program(env: { "CC" => "false" }).path { flunk })
  end

  def test_the_program_is_in_the_cache_if_the_directory_of_the_gem_is_missing_or_read_only
    FileUtils.rm_r(@own)
    path = program(sources: fake_sources).path
    assert_match(%r{\A#{@cache}/bontebok/\h{16}/bontebok-bench\z}, path)
    assert_equal 0o700, File.stat(File.dirname(path)).mode & 0o777
    other = program(sources: fake_sources("int main(void) { return 3; }\n")).path
    refute_equal path, other, "the sources have changed"
  end

  # Anybody could have put it there.
  def test_a_program_that_everybody_can_replace_is_not_used
    path = program(sources: fake_sources).path
    File.chmod(0o777, path)
    assert_raises(Program::NotBuilt) { program(env: { "CC" => "false" }).path }
  end

  def test_the_message_says_why_the_program_is_not_built
    { "no-such-compiler" => "cannot build the load tool: no-such-compiler is missing (Debian: build-essential)",
      "false" => "cannot build the load tool: the compiler has failed" }.each do |compiler, message|
      error = assert_raises(Program::NotBuilt) { program(env: { "CC" => compiler }).path }
      assert_equal message, error.message
      assert_empty Dir.children(@own)
    end
    assert_output("", /\Abontebok bench: building the load tool\nbontebok bench: cannot build .+\n\z/) do
      assert_equal 1, Bontebok::BenchCommand.run([], program: program(env: { "CC" => "no-such-compiler" }))
    end
  end

  private

  def program(env: {}, sources: Program::SOURCES)
    Program.new(sources: sources, own_directory: @own, env: { "XDG_CACHE_HOME" => @cache }.merge(env))
  end

  def fake_sources(text = "int main(void) { return 0; }\n")
    File.dirname(temp_file("sources#{text.size}/main.c", text))
  end
end
