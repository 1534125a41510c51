# frozen_string_literal: true

require_relative "checks"

class SymbolsTest < Lint::TestCase
  def test_the_core_uses_no_ruby_and_its_byte_layers_use_no_system_calls
    assert_clean Lint::Symbols
  end

  # The Perl binding compiles the same core with the flags of perl.
  def test_the_core_in_the_perl_binding_is_the_same
    assert_empty Lint::Symbols.new(ROOT, objects: File.join(ROOT, "perl/objects")).faults
  end

  def test_a_call_into_a_host_language_is_reported
    assert_fault "lane/lane.c uses rb_raise, of a host language", "lane/lane.c",
                 "void rb_raise(int); void bb_lane_next(void) { rb_raise(1); }\n"
  end

  def test_errno_in_the_byte_layers_is_reported
    assert_fault "http/h1_head.c uses __errno_location, of the system layer", "http/h1_head.c",
                 "#include <errno.h>\nint bb__h1(void) { return errno; }\n"
  end

  def test_a_system_call_that_was_declared_by_hand_is_reported
    assert_fault "base/buf.c uses send, of the system layer", "base/buf.c",
                 "long send(int, const void *, unsigned long, int); long f(void) { return send(1, 0, 0, 0); }\n"
  end

  def test_a_fortified_system_call_is_reported
    assert_fault "base/buf.c uses read, of the system layer", "base/buf.c",
                 "#include <unistd.h>\nlong f(int n) { char b[8]; long r = read(0, b, n); return r + b[0]; }\n",
                 flags: ["-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
  end

  def test_a_comparison_that_depends_on_the_locale_is_reported
    assert_fault "log/log_line.c uses strncasecmp, which depends on the locale", "log/log_line.c",
                 "#include <strings.h>\nint f(const char *a, const char *b) { return strncasecmp(a, b, 9); }\n"
  end

  def test_the_system_layer_may_use_errno
    assert_empty compiled("sockets/sock.c", "#include <errno.h>\nint bb__sock(void) { return errno; }\n")
  end

  def test_a_source_that_was_not_built_is_reported
    temp_file("core/src/base/new.c")
    assert_includes Lint::Symbols.new(temp_dir).faults.first, "new.c has no object"
  end

  private

  def assert_fault(fault, source, text, flags: [])
    assert_includes compiled(source, text, flags: flags), fault
  end

  # Compiles a core of one file. Returns the faults of this core.
  def compiled(source, text, flags: [])
    objects = File.dirname(temp_file("tmp/build/bontebok/log"))
    path = temp_file("core/src/#{source}", text)
    assert system("cc", *flags, "-c", path, "-o", File.join(objects, File.basename(source).sub(/c\z/, "o")))
    Lint::Symbols.new(temp_dir).faults
  end
end
