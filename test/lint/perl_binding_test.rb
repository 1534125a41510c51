# frozen_string_literal: true

require_relative "checks"

# The checks of perl/xs that no other binding needs.
class PerlBindingTest < Lint::TestCase
  MAP = "#define BBP_A(x) x\n" \
        "/* ---- bbp_low.c ---- */\n\n/* see bbp_other(): */\nint bbp_low(int a,\n  int b);\nextern int bbp_count;\n" \
        "static inline int bbp_inline(void)\n{\n    return 1;\n}\n\n" \
        "/* ---- bbp_high.c ---- */\n\nint bbp_high(int a, int b);\n"
  LOW = "int bbp_count = 1; int bbp_low(int a, int b) { return a + b; }\n"
  HIGH = "extern int bbp_count; int bbp_low(int, int); int bbp_high(int a, int b) { return bbp_low(a, bbp_count); }\n"

  def test_the_map_of_this_tree_is_right
    assert_clean Lint::PerlMap
  end

  def test_a_call_into_a_lower_file_is_allowed
    assert_empty map_faults("bbp_low.c" => LOW, "bbp_high.c" => HIGH)
  end

  def test_a_call_into_a_higher_file_is_reported
    low = "int bbp_high(int, int); int bbp_low(int a, int b) { return bbp_high(a, b); }\n"
    assert_equal ["bbp_low.c uses bbp_high of bbp_high.c, which comes later"],
                 map_faults("bbp_low.c" => low, "bbp_high.c" => HIGH)
  end

  def test_functions_and_files_that_the_map_lacks_are_reported
    assert_equal ["bbp_bontebok.h has no section for bbp_new.c",
                  "bbp_bontebok.h has a section for bbp_high.c, which is not there",
                  "bbp_low.c defines bbp_lower, which its section in bbp_bontebok.h lacks",
                  "bbp_new.c defines bbp_new, which its section in bbp_bontebok.h lacks"],
                 map_faults("bbp_low.c" => "#{LOW}void bbp_lower(void) {}\n", "bbp_new.c" => "void bbp_new(void) {}\n")
  end

  def test_a_file_that_was_not_built_is_reported
    map_faults("bbp_low.c" => LOW)
    assert_includes faults(Lint::PerlMap, "perl/xs/bbp_high.c" => HIGH), "perl/xs/bbp_high.c has no object"
  end

  def test_names_without_our_prefix_are_reported
    compile("perl/objects/a.o", "void bb_a(void) {}\nvoid bbr_a(void) {}\nint main_thing;\n")
    compile("perl/xs/b.o", "void bbp_b(void) {}\nvoid boot_Bontebok(void) {}\nvoid XS_b(void) {}\nvoid bb_b(void) {}\n")
    compile(Lint::PerlExports::SHARED, "void bb_c(void) {}\nvoid bbp_c(void) {}\n", "-shared")
    assert_equal ["perl/objects/a.o defines bbr_a", "perl/objects/a.o defines main_thing", "perl/xs/b.o defines bb_b",
                  "#{Lint::PerlExports::SHARED} defines bb_c"], faults(Lint::PerlExports, {})
  end

  def test_this_tree_defines_no_other_names
    assert_clean Lint::PerlExports
  end

  def test_this_tree_needs_no_newer_perl
    assert_clean Lint::PerlVersions
  end

  # ppport.h has no av_count() for Perl 5.16 that the binding could use. Nobody has sv_numeq() there.
  def test_names_of_a_newer_perl_are_reported
    text = "/* newSVbool */ int f(void) { return av_count(a) + sv_numeq(b, c); }\n"
    found = faults(Lint::PerlVersions, "perl/xs/a.c" => text)
    assert_includes found, "perl/xs/a.c uses av_count, which Perl has since 5.33"
    assert_includes found, "perl/xs/a.c uses sv_numeq, which Perl has since 5.35"
    assert_equal 1, found.grep(/WARNING: Uses sv_numeq/).size
    assert_equal 3, found.size
  end

  private

  # files: { name => text }. Returns the faults of a binding of these files.
  def map_faults(files)
    temp_file("perl/xs/bbp_bontebok.h", MAP)
    files.each do |name, text|
      temp_file("perl/xs/#{name}", text)
      compile("perl/xs/#{name.sub(/c\z/, "o")}", text)
    end
    Lint::PerlMap.new(temp_dir).faults
  end

  def compile(object, text, kind = "-c")
    assert system("cc", "-fPIC", kind, temp_file("source.c", text), "-o", temp_file(object, ""))
  end
end
