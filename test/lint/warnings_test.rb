# frozen_string_literal: true

require_relative "checks"
require "open3"

class WarningsTest < Lint::TestCase
  SHADOW = "int f(int a);\nint f(int a) { { int a = 1; return a; } }\n"

  def test_the_binding_and_the_load_tool_compile_without_warnings
    assert_clean Lint::Warnings
  end

  %w[ext/bontebok load/src].each do |directory|
    define_method("test_refuses_a_warning_in_#{directory.tr("/", "_")}") do
      found = faults(Lint::Warnings, "#{directory}/a.c" => SHADOW)
      assert_equal(%w[gcc clang], found.map { |fault| fault[/\A\w+/] })
      found.each { |fault| assert_includes fault, "#{directory}/a.c:2" }
    end
  end

  def test_knows_the_headers_of_both
    assert_empty faults(Lint::Warnings, "ext/bontebok/a.c" => "#include <ruby.h>\n#include \"bontebok.h\"\n",
                                        "load/src/b.c" => "#include \"h1.h\"\n",
                                        "core/include/bontebok.h" => "", "core/src/h1.h" => "")
  end

  # `make warnings`, with its compilers in their order, and what only that one sees of a file.
  COMPILERS = { "gcc" => "defined __GLIBC__ && !defined __clang__", "clang" => "defined __clang__",
                "musl-gcc" => "!defined __GLIBC__" }.freeze

  %w[core load].product(COMPILERS.keys) do |part, compiler|
    define_method("test_make_warnings_in_#{part}_asks_#{compiler.tr("-", "_")}") do
      text = "#include <limits.h>\nint used;\n#if #{COMPILERS[compiler]}\nstatic int unused;\n#endif\n"
      output, status = Open3.capture2e("make", "-s", "-C", part, "warnings", "SOURCES=#{temp_file("a.c", text)}",
                                       chdir: ROOT)
      refute_predicate status, :success?
      assert_includes output, "unused"
      assert_equal COMPILERS.keys.take_while { |name| name != compiler }, output.scan(/^no warning: (\S+)/).flatten
    end
  end
end
