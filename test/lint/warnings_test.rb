# frozen_string_literal: true

require_relative "checks"
require "open3"

class WarningsTest < Lint::TestCase
  SHADOW = "int f(int a);\nint f(int a) { { int a = 1; return a; } }\n"

  def test_the_binding_and_the_load_tool_compile_without_warnings
    assert_clean Lint::Warnings
  end

  %w[ext/bontebok load/src].each do |directory|
    define_method("test_a_warning_in_#{directory.tr("/", "_")}_is_reported") do
      found = faults(Lint::Warnings, "#{directory}/a.c" => SHADOW)
      assert_equal(%w[gcc clang], found.map { |fault| fault[/\A\w+/] })
      found.each { |fault| assert_includes fault, "#{directory}/a.c:2" }
    end
  end

  def test_headers_of_ruby_and_of_the_core_are_found
    assert_empty faults(Lint::Warnings, "ext/bontebok/a.c" => "#include <ruby.h>\n#include \"bontebok.h\"\n",
                                        "load/src/b.c" => "#include \"h1.h\"\n",
                                        "core/include/bontebok.h" => "", "core/src/h1.h" => "")
  end

  # { compiler => preprocessor condition that is true only for this compiler }, in the order of `make warnings`.
  COMPILERS = { "gcc" => "defined __GLIBC__ && !defined __clang__", "clang" => "defined __clang__",
                "musl-gcc" => "!defined __GLIBC__" }.freeze

  %w[core load].product(COMPILERS.keys) do |part, compiler|
    define_method("test_make_warnings_in_#{part}_runs_#{compiler.tr("-", "_")}") do
      text = "#include <limits.h>\nint used;\n#if #{COMPILERS[compiler]}\nstatic int unused;\n#endif\n"
      output, status = Open3.capture2e("make", "-s", "-C", part, "warnings", "SOURCES=#{temp_file("a.c", text)}",
                                       chdir: ROOT)
      refute_predicate status, :success?
      assert_includes output, "unused"
      assert_equal COMPILERS.keys.take_while { |name| name != compiler }, output.scan(/^no warning: (\S+)/).flatten
    end
  end
end
