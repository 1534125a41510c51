# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/system/proc/stat_line"

# Tests StatLine with lines of its own, and with that of this process.
class StatLineTest < Support::TestCase
  # What follows the name: the state, the parent, nine fields, 300 + 50 ticks, six fields, the start after 1000 ticks.
  REST = "S 41 4 4 0 -1 4194560 9 8 7 6 300 50 11 12 20 0 16 0 1000 98765 1234 18446744073709551615 1"

  def test_the_fields_after_the_name_are_read
    line = Bontebok::StatLine.of("42 (ruby) #{REST}\n")
    assert_equal ["S", 41, 350.fdiv(hertz)], line.to_a.first(3)
    boot = File.read("/proc/stat")[/^btime (\d+)/, 1].to_i
    assert_in_delta boot + 1000.fdiv(hertz), line.started, 1.5
  end

  # Anything but a line end, but also that: the name of a process is any 15 bytes.
  ["a b", "a) R 1 (", ") S 7 ", "a\nb\n", "", "(((", "\e[2J", "caf\xE9"].each do |name|
    define_method(:"test_a_name_may_be_#{name.inspect}") do
      assert_equal ["S", 41], Bontebok::StatLine.of("42 (#{name}) #{REST}".b).to_a.first(2)
    end
  end

  def test_a_text_of_another_kind_is_nil
    ["", "42 (ruby", "42 (ruby) S 41", "\xff\0", "42 (ruby) #{REST[0, 40]}"].each do |text|
      assert_nil Bontebok::StatLine.of(text.b), text.inspect
    end
  end

  def test_a_missing_file_is_nil
    assert_nil Bontebok::StatLine.read("#{temp_dir}/none")
    assert_nil Bontebok::StatLine.read(temp_dir)
  end

  def test_a_system_without_the_clock_tells_no_start
    Process.stub(:const_defined?, false) do
      line = Bontebok::StatLine.of("42 (ruby) #{REST}")
      assert_equal [41, nil], [line.parent, line.started]
    end
  end

  def test_this_process_is_read
    line = Bontebok::StatLine.read("/proc/self/stat")
    assert_equal Process.ppid, line.parent
    assert_in_delta Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID), line.cpu, 0.5
    assert_operator line.started, :<, Time.now.to_f
  end

  private

  def hertz = Etc.sysconf(Etc::SC_CLK_TCK)
end
