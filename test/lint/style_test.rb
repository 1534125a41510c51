# frozen_string_literal: true

require_relative "checks"
require "open3"

class StyleTest < Lint::TestCase
  C_FILES = Dir.glob("{core,ext,load,bench}/**/*.{c,h}", base: ROOT).reject { |file| file.include?("/build/") }.freeze
  SCRIPTS = (Dir.glob("bin/{*,support/*}", base: ROOT) + [".ci/run"])
            .select { |file| File.file?(File.join(ROOT, file)) }.freeze

  # Each release of clang-format breaks lines a little differently; this tree is formatted with Debian 12's.
  VERSION = "version 14."

  def test_c_files_are_formatted
    skip "not clang-format 14" unless Open3.capture2("clang-format", "--version").first.include?(VERSION)

    output, status = formatted(*C_FILES)
    assert status.success?, output
  end

  def test_clang_format_finds_what_is_not
    file = temp_file("bad.c", "int  f( void ){return 1 ;}\n")
    output, status = formatted("--style=file:#{ROOT}/.clang-format", file)
    refute status.success?
    assert_includes output, "bad.c:1"
  end

  def test_scripts_are_valid_and_executable
    SCRIPTS.each do |script|
      _, output, status = Open3.capture3("bash", "-n", script, chdir: ROOT)
      assert status.success?, output
      assert_equal !script.start_with?("bin/support/"), File.executable?(File.join(ROOT, script)), script
    end
  end

  # The core has its own test group for this; here the parts that are compiled with other headers.
  def test_the_binding_and_the_load_tool_compile_without_warnings
    headers = RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").flat_map { |folder| ["-isystem", folder] }
    %w[gcc clang].each do |compiler|
      assert_no_warning(compiler, "-Iext/bontebok", *headers, *Dir.glob("ext/bontebok/*.c", base: ROOT))
      assert_no_warning(compiler, "-Iload/src", "-Icore/src", *Dir.glob("load/src/*.c", base: ROOT))
    end
  end

  private

  def formatted(*arguments)
    Open3.capture2e("clang-format", "--dry-run", "-Werror", *arguments, chdir: ROOT)
  end

  def assert_no_warning(compiler, *arguments)
    flags = %w[-std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Werror -Wno-unused-parameter -fsyntax-only]
    output, status = Open3.capture2e(compiler, *flags, "-Icore/include", *arguments, chdir: ROOT)
    assert status.success?, output
  end
end
