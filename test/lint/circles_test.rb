# frozen_string_literal: true

require_relative "checks"

class CirclesTest < Lint::TestCase
  def test_this_tree_has_no_circle
    assert_clean Lint::Circles
  end

  def test_a_circle_of_three_c_files_is_reported
    compile "core/src/lane/a.c", "void b(void); void a(void); void a(void) { b(); }\n"
    compile "core/src/lane/b.c", "void c(void); void b(void); void b(void) { c(); }\n"
    compile "core/src/lane/c.c", "void a(void); void c(void); void c(void) { a(); }\n"
    assert_equal ["a circle of core/src/lane/a.c core/src/lane/b.c core/src/lane/c.c"], faults(Lint::Circles, {})
  end

  def test_a_circle_of_the_binding_is_reported
    compile "ext/bontebok/rb_a.c", "void b(void); void a(void); void a(void) { b(); }\n"
    compile "ext/bontebok/rb_b.c", "void a(void); void b(void); void b(void) { a(); }\n"
    assert_equal ["a circle of ext/bontebok/rb_a.c ext/bontebok/rb_b.c"], faults(Lint::Circles, {})
  end

  def test_a_call_into_a_layer_above_is_reported
    compile "core/src/conn/a.c", "void b(void); void a(void); void a(void) { b(); }\n"
    compile "core/src/lane/b.c", "void b(void); void b(void) {}\n"
    assert_equal ["core/src/conn/a.c calls b of core/src/lane/b.c, of a layer above"], faults(Lint::Circles, {})
  end

  def test_a_circle_of_ruby_files_is_reported
    found = faults(Lint::Circles, "lib/bontebok/log/a.rb" => "require_relative \"../config/b\"\n",
                                  "lib/bontebok/config/b.rb" => "  require_relative \"../log/a\"\n")
    assert_equal ["a circle of lib/bontebok/config/b.rb lib/bontebok/log/a.rb"], found
  end

  # { what: [a's text, b's text] }
  STEPS = {
    constants: ["module Outer\n  class A\n    def call = B\n  end\nend\n",
                "module Outer\n  class B\n    def call = A::LIMIT\n  end\nend\n"],
    includes: ["module Outer\n  class A\n    LIMIT = 1\n    include B\n  end\nend\n",
               "module Outer\n  module B\n    def limit = A::LIMIT\n  end\nend\n"],
    extends: ["module Outer\n  class A\n    extend B\n  end\nend\n",
              "module Outer\n  module B\n    def other = Outer::A.new\n  end\nend\n"],
    superclasses: ["class A\n  def b = B.new\nend\n", "class B < A\n  LIMIT = 1\nend\n"],
    inherited_constants: ["class A\n  LIMIT = 1\n  def b = B::C.new\nend\n",
                          "class B\n  class C < A\n    def limit = LIMIT\n  end\nend\n"],
    parts: ["class A\n  include Part\n  LIMIT = 1\nend\n",
            "class A\n  module Part\n    def limit = LIMIT\n  end\nend\n"]
  }.freeze

  STEPS.each do |what, (one, other)|
    define_method("test_a_circle_by_#{what}_is_reported") do
      assert_equal ["a circle of lib/a.rb lib/b.rb"],
                   faults(Lint::Circles, "lib/a.rb" => one, "lib/b.rb" => other)
    end
  end

  def test_a_circle_of_requires_and_constants_is_reported
    assert_equal ["a circle of lib/a.rb lib/b.rb lib/c.rb"],
                 faults(Lint::Circles, "lib/a.rb" => "require_relative \"b\"\nclass A\n  LIMIT = 1\nend\n",
                                       "lib/b.rb" => "class B\n  LIMIT = C\nend\n",
                                       "lib/c.rb" => "class C\n  LIMIT = A\nend\n")
  end

  # The modules around a class are no step, and neither is another class of the same name.
  def test_names_of_the_own_file_and_of_modules_around_are_no_steps
    assert_empty faults(Lint::Circles, "lib/a.rb" => "module Outer\n  class A\n    def b = Outer::B\n  end\nend\n",
                                       "lib/b.rb" => "module Outer\n  class B\n    A = 1\n    def a = A\n  end\nend\n")
  end

  def test_a_listed_step_that_is_in_no_circle_is_reported
    listed = { "lib/b.rb -> lib/a.rb" => "a reason" }
    one, other = STEPS[:constants]
    assert_empty faults(Lint::Circles, { "lib/a.rb" => one, "lib/b.rb" => other }, listed: listed)
    assert_equal ["lib/b.rb -> lib/a.rb is listed as an exception, and is no fault"],
                 faults(Lint::Circles, { "lib/a.rb" => "class A\nend\n", "lib/b.rb" => other }, listed: listed)
  end

  def test_a_circle_of_perl_modules_is_reported
    found = faults(Lint::Circles, "perl/lib/A.pm" => "use strict;\nuse A::B ();\n",
                                  "perl/lib/A/B.pm" => "sub c { require A }\n  require A;\n")
    assert_equal ["a circle of perl/lib/A.pm perl/lib/A/B.pm"], found
  end

  def test_calls_into_layers_below_are_allowed
    compile "core/src/lane/a.c", "void b(void); void a(void); void a(void) { b(); }\n"
    compile "core/src/conn/b.c", "void b(void); void b(void) {}\n"
    compile "core/src/lane/c.c", "void a(void); void c(void); void c(void) { a(); }\n"
    assert_empty faults(Lint::Circles, "lib/bontebok/log/a.rb" => "require_relative \"../version\"\n")
  end

  private

  def compile(source, text)
    path = temp_file(source, text)
    object = temp_file("tmp/build/bontebok/#{File.basename(source, ".c")}.o")
    assert system("cc", "-c", path, "-o", object)
  end
end
