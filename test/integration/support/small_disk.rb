# frozen_string_literal: true

# Used by tests of disks that fill up.
module SmallDisk
  # Mounts a file system of 4 MiB, yields its directory, and unmounts it after the block.
  def with_small_disk
    disk = File.join(temp_dir, "disk")
    Dir.mkdir(disk)
    mounted = Support::ChildProcess.run("mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs", disk)
    skip "needs the right to mount a file system: #{mounted.output.text.strip}" unless mounted.status.success?
    begin
      yield disk
    ensure
      @server&.stop
      Support::ChildProcess.run("umount", disk)
    end
  end

  def free_bytes(disk)
    blocks, size = `stat --file-system --format '%f %S' #{disk}`.split.map(&:to_i)
    blocks * size
  end
end
