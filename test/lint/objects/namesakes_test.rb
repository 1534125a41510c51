# frozen_string_literal: true

require_relative "../checks"

class NamesakesTest < Lint::TestCase
  FIRST = { "lib/a.rb" => "module Outer\n  class First\n    class Entry\n    end\n  end\nend\n" }.freeze

  def test_each_name_of_this_tree_means_one_thing
    assert_clean Lint::Namesakes
  end

  ["class Entry; end", "module Entry; end", "Entry = Struct.new(:text)", "Entry = Class.new(Other)"].each do |code|
    define_method("test_#{code.gsub(/\W+/, "_")}_is_a_namesake") do
      assert_equal ["Entry has several meanings: Outer::First::Entry Outer::Second::Entry"], with_second(code)
    end
  end

  def test_values_and_private_constants_may_have_one_name
    assert_empty with_second("Entry = 1")
    assert_empty with_second("Entry = Struct.new(:text)\n    private_constant :Entry")
  end

  def test_a_listed_name_that_has_one_meaning_is_reported
    names = "Outer::First::Entry Outer::Second::Entry"
    assert_empty with_second("class Entry; end", listed: { names => "a reason" })
    assert_equal ["#{names} is listed as an exception, and is no fault"],
                 with_second("Entry = 1", listed: { names => "a reason" })
  end

  private

  def with_second(code, **options)
    second = "module Outer\n  class Second\n    #{code}\n  end\nend\n"
    faults(Lint::Namesakes, { **FIRST, "lib/b.rb" => second }, **options)
  end
end
