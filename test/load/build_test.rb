# frozen_string_literal: true

require_relative "support"
require "bontebok/cli/bench_program"

require "fileutils"
require "io/wait"

# Tests how `bontebok bench` builds its program at the first use, and how it finds the program.
class BuildTest < LoadTest
  Program = Bontebok::BenchProgram
  # For the warnings that gcc gives only when it optimizes.
  STRICT = "-Wshadow -Werror"

  def setup
    @own = File.join(temp_dir, "own")
    @cache = File.join(temp_dir, "cache")
    [@own, @cache].each { |directory| Dir.mkdir(directory) }
  end

  def test_the_first_use_builds_the_program_beside_the_files_of_the_gem
    announced = []
    path = program(env: { "CC" => "#{RbConfig::CONFIG["CC"]} #{STRICT}" }).path { announced << true }
    assert_equal [File.join(@own, "bontebok-bench"), [true], ["bontebok-bench"]], [path, announced, Dir.children(@own)]
    assert_equal Support::ChildProcess.run(path, "--help").output.text, program.usage
    assert_equal(path, program(env: { "CC" => "false" }).path { flunk })
  end

  def test_the_program_is_in_the_cache_if_the_directory_of_the_gem_is_not_writable
    FileUtils.rm_r(@own)
    path = build(sources: fake_sources)
    assert_match(%r{\A#{@cache}/bontebok/\h{16}/bontebok-bench\z}, path)
    assert_equal([0o700] * 2, [1, 2].map { |levels| File.stat(File.dirname(path, levels)).mode & 0o777 })
    assert_equal(path, program(env: { "CC" => "false" }, sources: fake_sources).path { flunk })
    refute_equal path, build(sources: fake_sources("int main(void) { return 3; }\n")), "the sources have changed"
  end

  # Another user could replace the program in it.
  def test_a_cache_directory_that_others_can_write_is_not_used
    FileUtils.rm_r(@own)
    path = build(sources: fake_sources)
    [1, 2].each do |levels|
      directory = File.dirname(path, levels)
      File.chmod(0o777, directory)
      assert_equal "cannot keep the load tool in #{directory}: another user can write there", refusal
      File.chmod(0o700, directory)
    end
    move_and_link(File.dirname(path, 2))
    assert_match(/another user/, refusal)
  end

  def test_the_message_says_that_no_directory_is_writable
    FileUtils.rm_r(@own)
    FileUtils.rm_r(@cache)
    File.write(@cache, "")
    assert_match(/\Acannot keep .+#{@own}, which is not writable, .+#{@cache}.*XDG_CACHE_HOME/, refusal)
  end

  # Both have compiled before either program is moved to its place.
  def test_two_uses_at_the_same_time_build_one_program
    ready, go = %w[ready go].map { |name| fifo(name) }
    compiler = temp_file("compiler", "#!/bin/sh\ncc \"$@\"; echo >#{ready.path}; head -c 1 #{go.path} >/dev/null\n")
    File.chmod(0o755, compiler)
    sources = fake_sources # written once: a compiler must not read what the other user is writing
    users = Array.new(2) { Process.fork { exit!(built?(compiler, sources)) } }
    2.times { assert ready.wait_readable(60) && ready.gets }
    go.write("12")
    assert(users.all? { |pid| Process.wait2(pid).last.success? })
    assert_equal ["bontebok-bench"], Dir.children(@own)
  end

  def test_the_message_says_why_the_program_is_not_built
    { "no-such-compiler" => "cannot build the load tool: no-such-compiler is missing (Debian: build-essential)",
      "false" => "cannot build the load tool: the compiler has failed" }.each do |compiler, message|
      error = assert_raises(Program::NotBuilt) { build(env: { "CC" => compiler }) }
      assert_equal message, error.message
      assert_empty Dir.children(@own)
    end
    assert_output("", /\Abontebok bench: building the load tool\nbontebok bench: cannot build .+\n\z/) do
      assert_equal 1, program(env: { "CC" => "no-such-compiler" }).run([])
    end
  end

  def test_help_builds_nothing
    [%w[-h], %w[-c 5 --help]].each do |argv|
      assert_output(program.usage, "") { assert_equal 0, program.run(argv) }
    end
    assert_operator program.usage, :start_with?, "Usage: bontebok bench [options] URL\n"
    assert_empty Dir.children(@own)
  end

  private

  def build(**options) = program(**options).path { nil }

  def refusal = assert_raises(Program::NotBuilt) { build(sources: fake_sources) }.message

  def built?(compiler, sources)
    File.executable?(build(env: { "CC" => compiler }, sources: sources))
  rescue Program::NotBuilt
    false
  end

  def fifo(name)
    path = File.join(temp_dir, name)
    File.mkfifo(path)
    File.new(path, "r+").tap { |file| file.sync = true }
  end

  def move_and_link(directory)
    File.rename(directory, "#{directory}.moved")
    File.symlink("#{directory}.moved", directory)
  end

  def program(env: {}, sources: Program::SOURCES)
    Program.new(sources: sources, own_directory: @own, env: { "XDG_CACHE_HOME" => @cache }.merge(env))
  end

  def fake_sources(text = "int main(void) { return 0; }\n")
    File.dirname(temp_file("sources#{text.size}/main.c", text))
  end
end
