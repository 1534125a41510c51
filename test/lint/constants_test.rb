# frozen_string_literal: true

require_relative "checks"

class ConstantsTest < Lint::TestCase
  SEEN = <<~RUBY
    module Outer
      LIMIT = 1
      module Shared
        REASON = "shared"
      end
      class Base
        include Shared
        NAME = "base"
      end
      class Child < Base
        def text = [NAME, REASON, LIMIT, Base::NAME, Shared, File, Unknown]
      end
    end
  RUBY

  def test_this_tree_names_no_constant_that_ruby_does_not_find
    assert_clean Lint::Constants
  end

  def test_constants_of_modules_around_superclasses_and_included_modules_are_found
    assert_empty faults(Lint::Constants, "lib/a.rb" => SEEN)
  end

  def test_constants_of_other_modules_are_reported
    other = <<~RUBY
      module Outer
        class Other
          def text = [Base::NAME, NAME, REASON]
        end
      end
      print LIMIT
    RUBY
    assert_equal ["lib/b.rb: Outer::Other does not see NAME", "lib/b.rb: Outer::Other does not see REASON",
                  "lib/b.rb: the top does not see LIMIT"],
                 faults(Lint::Constants, "lib/a.rb" => SEEN, "lib/b.rb" => other)
  end

  def test_a_constant_that_a_class_lacks_is_reported
    other = "module Outer\n  module Other\n    TEXT = [Base::NAME, Child::REASON, Base::GONE]\n  end\nend\n"
    assert_equal ["lib/b.rb: Outer::Base lacks GONE"],
                 faults(Lint::Constants, "lib/a.rb" => SEEN, "lib/b.rb" => other)
  end
end
