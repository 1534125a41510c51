# frozen_string_literal: true

require_relative "checks"

class PortableTest < Lint::TestCase
  def test_the_core_for_other_systems_calls_only_functions_of_posix
    assert_empty Lint::PortableSymbols.new(ROOT, temp_dir).faults
  end

  def test_the_switch_is_only_in_the_lowest_layers
    files = Dir[File.join(ROOT, "core/src/*/*.[ch]")].select { |file| File.read(file).include?("PORTABLE") }
    assert_empty(files.grep_v(%r{/core/src/(sockets/|metrics/|system/|files/file_open\.c|base/clock\.c)}))
  end

  def test_a_call_of_linux_is_reported
    assert_equal ["one.c calls gnu_call, which is not in POSIX"],
                 faults("int gnu_call(void); int bb__one(void); int bb__one(void) { return gnu_call(); }\n")
  end

  def test_a_call_that_only_gnu_declares_is_reported
    text = "#include <unistd.h>\nint bb__one(void);\nint bb__one(void) { return dup3(0, 1, 0); }\n"
    assert_includes faults(text).first, "dup3"
  end

  private

  def faults(text)
    temp_file("core/src/base/one.c", text)
    objects = temp_file("objects/none", "")
    Lint::PortableSymbols.new(temp_dir, File.dirname(objects)).faults
  end
end
