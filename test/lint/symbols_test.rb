# frozen_string_literal: true

require_relative "checks"

class SymbolsTest < Lint::TestCase
  def test_the_core_is_free_of_ruby_and_its_bytes_of_the_kernel
    assert_clean Lint::Symbols
  end

  def test_refuses_a_host_language
    assert_fault "lane/lane.c uses rb_raise, of a host language", "lane/lane.c",
                 "void rb_raise(int); void bb_lane_next(void) { rb_raise(1); }\n"
  end

  def test_refuses_errno_among_the_bytes
    assert_fault "http/h1_head.c uses __errno_location, of the system layer", "http/h1_head.c",
                 "#include <errno.h>\nint bb__h1(void) { return errno; }\n"
  end

  def test_refuses_a_system_call_that_was_declared_by_hand
    assert_fault "base/buf.c uses send, of the system layer", "base/buf.c",
                 "long send(int, const void *, unsigned long, int); long f(void) { return send(1, 0, 0, 0); }\n"
  end

  def test_sees_through_fortification
    assert_fault "base/buf.c uses read, of the system layer", "base/buf.c",
                 "#include <unistd.h>\nlong f(int n) { char b[8]; long r = read(0, b, n); return r + b[0]; }\n",
                 flags: ["-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
  end

  def test_allows_the_system_layer_its_calls
    assert_empty compiled("system/sock.c", "#include <errno.h>\nint bb__sock(void) { return errno; }\n")
  end

  def test_refuses_a_source_that_was_not_built
    temp_file("core/src/base/new.c")
    assert_includes Lint::Symbols.new(temp_dir).faults.first, "new.c has no object"
  end

  private

  def assert_fault(fault, source, text, flags: [])
    assert_includes compiled(source, text, flags: flags), fault
  end

  # The faults of a core of one file.
  def compiled(source, text, flags: [])
    objects = File.dirname(temp_file("tmp/build/bontebok/log"))
    path = temp_file("core/src/#{source}", text)
    assert system("cc", *flags, "-c", path, "-o", File.join(objects, File.basename(source).sub(/c\z/, "o")))
    Lint::Symbols.new(temp_dir).faults
  end
end
