# frozen_string_literal: true

require_relative "../checks"

class WholeClassesTest < Lint::TestCase
  WHOLE = <<~RUBY
    module Outer
      class Whole
        include Slice
        include Comparable

        attr_reader :value

        def initialize = @value = 1
        def to_s = "whole"
      end
    end
  RUBY

  def test_each_class_of_this_tree_is_in_one_file
    assert_clean Lint::WholeClasses
  end

  def test_a_class_in_two_files_is_reported
    assert_equal ["lib/b.rb: Outer::Whole is also in lib/a.rb"],
                 faults(Lint::WholeClasses, "lib/a.rb" => WHOLE.sub("Slice", "Enumerable"),
                                            "lib/b.rb" => "module Outer\n  class Whole\n    LIMIT = 1\n  end\nend\n")
  end

  def test_a_class_may_be_around_another_one
    around = "module Outer\n  class Whole\n    class Inner\n      LIMIT = 2\n    end\n  end\nend\n"
    assert_empty faults(Lint::WholeClasses, "lib/a.rb" => WHOLE.sub("Slice", "Enumerable"), "lib/b.rb" => around)
  end

  # Code of a module that only one class includes. It uses what the class has.
  ["@value", "@other = 1", "value", "self.value", "to_s"].each do |code|
    define_method("test_a_module_with_#{code.gsub(/\W+/, "_")}_is_a_part") do
      assert_equal ["lib/b.rb: Outer::Slice is a part of Outer::Whole"], of_slice("def text = #{code}")
    end
  end

  def test_a_module_that_the_class_extends_is_a_part_of_it
    assert_equal ["lib/b.rb: Outer::Slice is a part of Outer::Whole"],
                 of_slice("def text = @text", WHOLE.sub("include Slice", "extend Slice"))
  end

  def test_a_module_that_uses_another_part_is_a_part
    both = WHOLE.sub("include Slice", "include Slice, Second")
    second = "module Outer\n  module Second\n    def second = 2\n  end\nend\n"
    assert_equal ["lib/b.rb: Outer::Slice is a part of Outer::Whole"],
                 of_slice("def text = second", both, "lib/c.rb" => second)
  end

  def test_a_module_with_what_it_needs_is_no_part
    assert_empty of_slice("TEXT = \"a\"\n    def text = inner\n    def inner = TEXT")
  end

  def test_a_module_of_two_classes_is_no_part
    assert_empty of_slice("def text = value", "lib/c.rb" => WHOLE.gsub("Whole", "Second"))
  end

  def test_a_listed_part_that_is_none_is_reported
    assert_equal ["Outer::Slice is listed as an exception, and is no fault"],
                 of_slice("def text = 1", listed: { "Outer::Slice" => "a reason" })
    assert_empty of_slice("def text = value", listed: { "Outer::Slice" => "a reason" })
  end

  private

  def of_slice(code, whole = WHOLE, **more)
    slice = "module Outer\n  module Slice\n    #{code}\n  end\nend\n"
    faults(Lint::WholeClasses, "lib/a.rb" => whole, "lib/b.rb" => slice, **more)
  end
end
