# frozen_string_literal: true

require "test_helper"
require "bontebok/config/machine/memory_limit"

# Tests which memory limit counts. The files of /proc and /sys/fs/cgroup are fakes in a directory.
class MemoryLimitTest < Support::TestCase
  V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
  V1 = "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" \
       "32 23 0:28 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu\n"
  MACHINE = [8 << 30, "the machine"].freeze

  def test_the_limit_of_this_process_is_read
    assert_operator Bontebok::MemoryLimit.read.bytes, :>, 1 << 20
  end

  def test_without_proc_there_is_no_limit
    assert_equal [nil, nil], Bontebok::MemoryLimit.read(root: temp_dir).to_a
  end

  def test_without_a_limit_of_a_cgroup_the_machine_counts
    assert_equal MACHINE, limit
    ["max\n", "", "x", "0", (9 << 30).to_s].each { |text| assert_equal MACHINE, limit(v2("memory.max" => text)), text }
  end

  def test_the_smaller_limit_of_a_cgroup_counts
    { %w[536870912 max] => 512, %w[max 268435456] => 256, %w[536870912 268435456] => 256 }.each do |(max, high), count|
      assert_equal [count << 20, "the cgroup"], limit(v2("memory.max" => max, "memory.high" => high))
    end
  end

  def test_the_smallest_limit_of_a_cgroup_and_its_parents_counts
    files = { "proc/self/mountinfo" => V2, "proc/self/cgroup" => "0::/pods/pod/app\n",
              "sys/fs/cgroup/pods/memory.max" => (3 << 30).to_s, "sys/fs/cgroup/pods/pod/memory.max" => (1 << 30).to_s,
              "sys/fs/cgroup/pods/pod/app/memory.max" => (2 << 30).to_s }
    assert_equal [1 << 30, "the cgroup"], limit(files)
  end

  # In a namespace, /sys/fs/cgroup shows the container's own cgroup.
  def test_a_container_finds_its_limit
    ["0::/\n", "0::/../../other\n", "0::/docker/1f/app\n"].each do |group|
      files = { "proc/self/mountinfo" => V2, "proc/self/cgroup" => group, "sys/fs/cgroup/memory.max" => "536870912\n" }
      assert_equal [512 << 20, "the cgroup"], limit(files), group
    end
  end

  def test_the_limits_of_cgroup_v1_count
    files = { "proc/self/mountinfo" => V1, "proc/self/cgroup" => "5:memory:/app\n4:cpu:/app\n",
              "sys/fs/cgroup/memory/memory.limit_in_bytes" => "9223372036854771712\n",
              "sys/fs/cgroup/cpu/app/memory.limit_in_bytes" => "1",
              "sys/fs/cgroup/memory/app/memory.limit_in_bytes" => "9223372036854771712\n" }
    assert_equal MACHINE, limit(files)
    files["sys/fs/cgroup/memory/app/memory.limit_in_bytes"] = "536870912\n"
    assert_equal [512 << 20, "the cgroup"], limit(files)
  end

  private

  def v2(files)
    { "proc/self/mountinfo" => V2, "proc/self/cgroup" => "0::/app\n",
      **files.transform_keys { |name| "sys/fs/cgroup/app/#{name}" } }
  end

  # On a machine with 8 GB and these files.
  def limit(files = {})
    { "proc/meminfo" => "MemTotal:        8388608 kB\nMemFree:          100 kB\n", **files }.each do |path, text|
      temp_file(path, text)
    end
    Bontebok::MemoryLimit.read(root: temp_dir).to_a
  end
end
