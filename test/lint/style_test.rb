# frozen_string_literal: true

require_relative "checks"
require "open3"

class StyleTest < Lint::TestCase
  C_FILES = Lint::Files.glob(ROOT, "{core,ext,load,bench,perl}/**/*.{c,h}").freeze
  SCRIPTS = (Dir.glob("bin/{*,support/*}", base: ROOT) + [".ci/run"])
            .select { |file| File.file?(File.join(ROOT, file)) }.freeze

  # Each release of clang-format breaks lines a little differently. This tree is formatted with the release of Debian
  # 12.
  VERSION = "version 14."

  def test_c_files_are_formatted
    skip "not clang-format 14" unless Open3.capture2("clang-format", "--version").first.include?(VERSION)

    output, status = formatted(*C_FILES)
    assert status.success?, output
  end

  def test_clang_format_reports_a_file_that_is_not_formatted
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

  private

  def formatted(*arguments)
    Open3.capture2e("clang-format", "--dry-run", "-Werror", *arguments, chdir: ROOT)
  end
end
