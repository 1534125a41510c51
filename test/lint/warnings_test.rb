# frozen_string_literal: true

require_relative "checks"
require "fileutils"
require "open3"

class WarningsTest < Lint::TestCase
  SHADOW = "int f(int a);\nint f(int a) { { int a = 1; return a; } }\n"
  # gcc finds these mistakes only when it optimizes. UBSan hides the second one from it.
  ALIASING = "float f(int a);\nfloat f(int a) { return *(float *)&a; }\n"
  NULL = "#include <string.h>\nsize_t f(void);\nsize_t f(void) { const char *s = NULL; return strlen(s); }\n"

  def test_clang_compiles_the_bindings_without_a_warning
    assert_clean Lint::Warnings
  end

  def test_a_warning_in_the_binding_is_reported
    assert_includes faults(Lint::Warnings, "ext/bontebok/a.c" => SHADOW).join, "ext/bontebok/a.c:2"
  end

  def test_a_warning_in_the_perl_binding_is_reported
    text = "#include <EXTERN.h>\n#include <perl.h>\n#include \"bontebok.h\"\n#{SHADOW}"
    found = faults(Lint::Warnings, "perl/xs/a.c" => text, "core/include/bontebok.h" => "").join
    assert_equal ["perl/xs/a.c:5"], found.scan(%r{^[\w./]+:\d+(?=:\d+: error)})
  end

  def test_headers_of_ruby_and_of_the_core_are_found
    assert_empty faults(Lint::Warnings, "ext/bontebok/a.c" => "#include <ruby.h>\n#include \"bontebok.h\"\n",
                                        "core/include/bontebok.h" => "")
  end

  # test/support/portable adds -Werror. Without these flags it would find nothing.
  def test_the_build_of_the_extension_gives_warnings
    makefile = File.read(File.join(ROOT, "tmp/build/bontebok/Makefile"))
    assert_match(/^CFLAGS .* -Wall -Wextra -Wshadow /, makefile)
  end

  # { compiler => a mistake that only this compiler reports }
  COMPILERS = { "clang" => "int f(int a);\nint f(int a) { a = a; return a; }\n",
                "musl-gcc" => "#include <execinfo.h>\nint used;\n" }.freeze

  %w[core load].product(COMPILERS.keys) do |part, compiler|
    define_method("test_make_warnings_in_#{part}_runs_#{compiler.tr("-", "_")}") do
      output, status = make(part, "warnings", "SOURCES=#{temp_file("a.c", COMPILERS[compiler])}")
      refute_predicate status, :success?
      assert_equal COMPILERS.keys - [compiler], output.scan(/^no warning: (\S+)/).flatten, output
    end
  end

  { "core/src/base/aliasing.c" => ["build/tsan_src/base/aliasing.o", ALIASING],
    "core/src/base/null.c" => ["build/tsan_src/base/null.o", NULL],
    "core/src/base/shadow.c" => ["build/asan/base/shadow.o", SHADOW],
    "load/src/shadow.c" => ["build/asan/shadow.o", SHADOW] }.each do |path, (object, text)|
    part, name = path.match(%r{\A(\w+)/.*/(\w+)\.c\z}).captures
    define_method("test_a_warning_of_gcc_ends_the_build_in_#{part}_#{name}") do
      temp_file(path, text)
      FileUtils.cp(File.join(ROOT, part, "Makefile"), File.join(temp_dir, part))
      output, status = make(part, object, from: temp_dir)
      refute_predicate status, :success?
      assert_match(/#{File.basename(path)}:[23]:.*error: .*\[-Werror=/, output)
    end
  end

  private

  def make(part, *arguments, from: ROOT)
    Open3.capture2e("make", "-s", "-k", "-C", part, *arguments, chdir: from)
  end
end
