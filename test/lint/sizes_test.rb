# frozen_string_literal: true

require_relative "checks"

class SizesTest < Lint::TestCase
  def test_this_tree_follows_the_size_limits
    assert_clean Lint::Sizes
    Lint::Sizes.new(ROOT).print_exceptions
  end

  def test_long_files_are_reported
    found = faults(Lint::Sizes, "core/src/a.c" => "\n" * 401, "lib/b.rb" => "\n" * 251, "bin/c" => "\n" * 201)
    assert_equal ["bin/c has 201 lines, more than 200", "core/src/a.c has 401 lines, more than 400",
                  "lib/b.rb has 251 lines, more than 250"], found
  end

  def test_a_long_file_may_be_listed_with_a_reason
    listed = { "lib/b.rb" => "it is one table" }
    temp_file("lib/b.rb", "\n" * 251)
    check = Lint::Sizes.new(temp_dir, listed: listed)
    assert_empty check.faults
    assert_output("lib/b.rb has 251 lines, more than 250: it is one table\n") { check.print_exceptions }
    assert_equal ["lib/b.rb is listed as an exception, and is no fault"],
                 faults(Lint::Sizes, { "lib/b.rb" => "" }, listed: listed)
  end

  def test_long_lines_are_measured_in_columns_not_bytes
    found = faults(Lint::Sizes, "lib/a.rb" => "#{"x" * 121}\n#{"é" * 120}\n")
    assert_equal ["lib/a.rb:1 has 121 columns"], found
  end

  def test_a_long_function_is_reported_by_its_name
    body = "    work();\n" * 57
    fine = "int a;\n\n/* what it is for */\nstatic int fine(int b)\n{\n#{body}}\n"
    text = "#{fine}\nvoid long_one(int b,\n              int c)\n{\n#{body}}\n"
    assert_equal ["load/src/a.c:65 long_one has 61 lines, more than 60"], faults(Lint::Sizes, "load/src/a.c" => text)
  end

  def test_structures_do_not_count_as_functions
    assert_empty faults(Lint::Sizes, "core/src/a.h" => "struct a {\n#{"    int b;\n" * 80}};\n")
  end

  def test_perl_files_are_measured
    found = faults(Lint::Sizes, "perl/xs/A.xs" => "\n" * 401, "perl/lib/B.pm" => "\n" * 201, "perl/t/c.t" => "x" * 121)
    assert_equal ["perl/lib/B.pm has 201 lines, more than 200", "perl/xs/A.xs has 401 lines, more than 400",
                  "perl/t/c.t:1 has 121 columns"], found
  end

  def test_built_files_are_not_checked
    long = "\n" * 401
    assert_empty faults(Lint::Sizes, "core/build/a.c" => long, "perl/xs/Bontebok.c" => long, "perl/blib/a.pm" => long)
  end
end
