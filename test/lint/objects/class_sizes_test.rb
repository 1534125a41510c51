# frozen_string_literal: true

require_relative "../checks"

class ClassSizesTest < Lint::TestCase
  def test_this_tree_has_no_long_class_without_a_reason
    assert_clean Lint::ClassSizes
    Lint::ClassSizes.new(ROOT).print_exceptions
  end

  def test_a_long_class_is_reported
    assert_equal ["A has 251 lines with what it includes, more than 250"], long("lib/a.rb" => text("class A", 251))
    assert_empty long("lib/a.rb" => text("class A", 250))
  end

  %w[include extend prepend].each do |word|
    define_method("test_lines_count_that_a_class_can_#{word}") do
      assert_equal ["A has 251 lines with what it includes, more than 250"],
                   long("lib/a.rb" => text("class A", 150, "#{word} B"), "lib/b.rb" => text("module B", 101))
    end
  end

  def test_lines_that_are_inherited_count_once
    files = { "lib/a.rb" => text("class A < B", 100, "include C"), "lib/b.rb" => text("class B", 100, "include C"),
              "lib/c.rb" => text("module C", 50) }
    assert_empty long(files)
    assert_equal ["A has 251 lines with what it includes, more than 250"], long("lib/c.rb" => text("module C", 51))
  end

  def test_classes_in_a_class_do_not_count
    assert_empty long("lib/a.rb" => text("class A", 200, text("class B", 200)))
  end

  def test_a_listed_class_that_is_short_is_reported
    assert_equal ["A is listed as an exception, and is no fault"],
                 faults(Lint::ClassSizes, { "lib/a.rb" => text("class A", 9) }, listed: { "A" => "a reason" })
  end

  def test_a_listed_class_is_printed_with_its_reason
    temp_file("lib/a.rb", text("class A", 251))
    check = Lint::ClassSizes.new(temp_dir, listed: { "A" => "it is one table" })
    assert_empty check.faults
    assert_output("A has 251 lines with what it includes, more than 250: it is one table\n") { check.print_exceptions }
  end

  private

  def long(files) = faults(Lint::ClassSizes, files)

  # A definition with so many lines, and with `more`, which has lines of its own.
  def text(head, lines, more = nil)
    "#{[head, *more].join("; ")}\n  work\n#{"  # a line\n" * (lines - 3)}end\n"
  end
end
