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
