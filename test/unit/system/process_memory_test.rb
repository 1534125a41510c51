# frozen_string_literal: true

require "test_helper"
require "bontebok/system/process_memory"

# Tests ProcessMemory: it reads the memory of a process from /proc.
class ProcessMemoryTest < Support::TestCase
  TEXT = <<~SMAPS
    55d5c0a2e000-7ffd2b5f0000 ---p 00000000 00:00 0                          [rollup]
    Rss:               90000 kB
    Pss:               20480 kB
    Pss_Dirty:          9000 kB
    Shared_Clean:      60000 kB
    Shared_Dirty:        100 kB
    Private_Clean:      1024 kB
    Private_Dirty:     10240 kB
    Private_Hugetlb:       0 kB
  SMAPS

  def test_own_and_proportional_memory_are_read
    memory = Bontebok::ProcessMemory.read(temp_file("smaps_rollup", TEXT))
    assert_equal [11 << 20, 20 << 20], memory.to_a
    assert_equal "memory 11 MB, PSS 20 MB", memory.to_s
  end

  def test_the_memory_of_this_process_is_read
    memory = Bontebok::ProcessMemory.read
    assert_operator memory.own, :>, 1 << 20
    assert_operator memory.share, :>=, memory.own
  end

  def test_the_result_is_nil_if_the_system_does_not_show_it
    assert_nil Bontebok::ProcessMemory.read("#{temp_dir}/none")
    assert_nil Bontebok::ProcessMemory.read(temp_file("empty", ""))
    assert_nil Bontebok::ProcessMemory.read(temp_file("half", "Pss:  1 kB\n"))
  end
end
