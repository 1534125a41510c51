# frozen_string_literal: true

require "etc"
require "test_helper"
require "bontebok/config/machine/cpus"

# Tests how Cpus counts the CPUs. The files of /proc and /sys/fs/cgroup are fakes in a directory.
class CpusTest < Support::TestCase
  V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
  V1 = "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" \
       "32 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"

  def test_the_count_is_at_most_the_number_of_processors
    assert_includes 1..Etc.nprocessors, Bontebok::Cpus.new.count
  end

  def test_the_affinity_limits_the_count
    { "0" => 1, "0-3" => 4, "0,2-3,8-15" => 11 }.each do |list, count|
      assert_equal count, cpus({}, list), list
    end
  end

  def test_the_count_is_one_without_proc
    assert_equal 1, Bontebok::Cpus.new(root: temp_dir).count
  end

  def test_a_quota_of_cgroup_v2_limits_the_count
    { "max 100000" => 8, "200000 100000" => 2, "250000 100000" => 2, "50000 100000" => 1, "1600000 100000" => 8,
      "30000 10000" => 3 }.each do |limit, count|
      assert_equal count, cpus("proc/self/mountinfo" => V2, "proc/self/cgroup" => "0::/app\n",
                               "sys/fs/cgroup/app/cpu.max" => "#{limit}\n"), limit
    end
  end

  def test_the_smallest_quota_of_a_cgroup_and_its_parents_counts
    files = { "proc/self/mountinfo" => V2, "proc/self/cgroup" => "0::/pods/pod/app\n",
              "sys/fs/cgroup/pods/cpu.max" => "600000 100000", "sys/fs/cgroup/pods/pod/cpu.max" => "300000 100000",
              "sys/fs/cgroup/pods/pod/app/cpu.max" => "max 100000" }
    assert_equal 3, cpus(files)
  end

  # In a container, /sys/fs/cgroup shows the container's own cgroup. The name in /proc/self/cgroup may not exist there.
  def test_a_container_finds_its_quota_of_cgroup_v2
    ["0::/\n", "0::/../../other\n", "0::/docker/1f/app\n"].each do |group|
      assert_equal 2, cpus("proc/self/mountinfo" => V2, "proc/self/cgroup" => group,
                           "sys/fs/cgroup/cpu.max" => "200000 100000", "sys/fs/cpu.max" => "100000 100000"), group
    end
  end

  # In /proc/self/status, the kernel cuts the name of the process to 15 bytes. The cut can split a UTF-8 character.
  def test_names_may_have_any_bytes
    files = { "proc/self/mountinfo" => "29 23 0:25 / /mnt/\xff rw - tmpfs \xff rw\n#{V2}",
              "proc/self/cgroup" => "0::/\xff\n", "sys/fs/cgroup/\xff/cpu.max" => "300000 100000\n" }
    assert_equal 3, cpus(files, "0-7\nSeccomp:\t\xff")
  end

  def test_files_with_unexpected_content_set_no_limit
    ["", "max", "x y\n", "100000 0\n", "-1 100000\n", "200000"].each do |limit|
      assert_equal 8, cpus("proc/self/mountinfo" => "#{V2}nonsense - \n\n", "proc/self/cgroup" => "0\n:\n0::/app\n",
                           "sys/fs/cgroup/app/cpu.max" => limit), limit
    end
  end

  # The mount shows the cgroup /docker/1. The process is in /docker/1f/app, which is not below /docker/1.
  def test_a_cgroup_name_with_the_same_prefix_is_no_parent
    mount = "30 23 0:26 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n"
    assert_equal 5, cpus("proc/self/mountinfo" => mount, "proc/self/cgroup" => "0::/docker/1f/app\n",
                         "sys/fs/cgroup/cpu.max" => "500000 100000", "sys/fs/cgroup/f/cpu.max" => "100000 100000")
  end

  def test_a_quota_of_cgroup_v1_limits_the_count
    files = { "proc/self/mountinfo" => V1, "proc/self/cgroup" => "5:memory:/app\n4:cpu,cpuacct:/app\n",
              "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us" => "-1", "sys/fs/cgroup/memory/app/cpu.cfs_quota_us" => "1",
              "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us" => "100000",
              "sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us" => "400000\n",
              "sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us" => "100000\n" }
    assert_equal 4, cpus(files)
    assert_equal 8, cpus(files.merge("sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us" => "-1\n"))
  end

  # The mount shows only the container's cgroup and the groups below it. /proc/self/cgroup has the full name.
  def test_a_container_finds_its_quota_of_cgroup_v1
    mount = "32 23 0:28 /docker/1f /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n"
    assert_equal 2, cpus("proc/self/mountinfo" => mount, "proc/self/cgroup" => "4:cpu:/docker/1f/app\n",
                         "sys/fs/cgroup/cpu/cpu.cfs_quota_us" => "500000",
                         "sys/fs/cgroup/cpu/cpu.cfs_period_us" => "100000",
                         "sys/fs/cgroup/cpu/app/cpu.cfs_quota_us" => "200000",
                         "sys/fs/cgroup/cpu/app/cpu.cfs_period_us" => "100000")
  end

  def test_both_versions_of_cgroups_may_be_mounted
    files = { "proc/self/mountinfo" => V1 + V2.sub("cgroup rw", "cgroup/unified rw"),
              "proc/self/cgroup" => "4:cpu,cpuacct:/\n0::/\n",
              "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us" => "500000",
              "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us" => "100000" }
    assert_equal 5, cpus(files)
  end

  private

  # Returns the count on a machine with these files and this list of CPUs.
  def cpus(files = {}, list = "0-7")
    temp_file("proc/self/status", "Name:\truby\nCpus_allowed:\tff\nCpus_allowed_list:\t#{list}\n")
    files.each { |path, text| temp_file(path, text) }
    Bontebok::Cpus.new(root: temp_dir).count
  end
end
