# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# If the supervisor is killed, the other processes finish the requests in flight and end. No process and no socket file
# is left.
class ProcessOrphansTest < Support::TestCase
  include ProcessTree

  def test_all_processes_finish_and_leave_when_the_supervisor_dies
    make_gate
    server = start_bontebok(args: ["-w", "1"], rackup: GATED_APP)
    at_gate(server) do |client|
      Process.kill("KILL", server.pid)
      server.wait_for_output(/its supervisor is gone/)
      open_gate
      assert_equal 200, client.read_response.status
    end
    server.wait_for_group
  end

  def test_a_worker_leaves_when_supervisor_and_master_die_together
    server = start_bontebok(args: ["-w", "1"], rackup: GATED_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    [server.pid, master(server).pid].each { |pid| Process.kill("KILL", pid) }
    server.wait_for_group
    assert_empty server.group
  end

  def test_orphans_do_not_wait_for_ever_for_the_end_of_a_request
    server = start_bontebok(args: ["-w", "1", "--graceful-timeout", "100ms"], rackup: "run ->(_) { sleep }\n")
    server.connect do |client|
      client.request("GET", "/")
      server.wait_for_output(/ ready in \d+ ms$/)
      [server.pid, master(server).pid].each { |pid| Process.kill("KILL", pid) }
      server.wait_for_group
      assert_empty server.group
    end
  end

  def test_an_orphan_does_not_wait_for_ever_for_a_hook
    hooks = temp_file("hooks.rb", "before_worker_drain { sleep }\n")
    server = start_bontebok(args: ["-w", "1", "--graceful-timeout", "100ms", "--hijack-timeout", "1000", "-c", hooks],
                            rackup: GATED_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    [server.pid, master(server).pid].each { |pid| Process.kill("KILL", pid) }
    server.wait_for_group
    assert_empty server.group
  end

  def test_processes_that_are_still_loading_leave_at_once
    make_gate
    [%w[-w 1], %w[-w 2 --preload false]].each do |args|
      server = start_bontebok(ready: false, args: args, rackup: "warn :loading\nFile.read('gate')\n")
      server.wait_for_output(/loading/)
      server.signal("KILL")
      server.wait_for_group
      assert_empty server.group
    end
  end

  def test_a_worker_that_is_still_loading_leaves_when_its_master_dies
    make_gate
    server = start_bontebok(ready: false, args: ["-w", "1", "--preload", "false"],
                            rackup: "warn :loading\nFile.read('gate')\n")
    server.wait_for_output(/loading/)
    killed, loading = [master(server).pid, *workers(server)]
    Process.kill("KILL", killed)
    eventually { gone?(loading) }
    assert gone?(loading)
  end

  def test_the_master_removes_the_unix_socket
    [false, true].each do |replaced|
      server = start_bontebok(args: ["-w", "1"], rackup: GATED_APP)
      server.wait_for_output(/ ready in \d+ ms$/)
      replace_master(server) if replaced
      server.signal("KILL")
      server.wait_for_group
      assert_equal ["config.ru"], Dir.children(temp_dir)
    end
  end

  def test_a_master_that_is_still_loading_removes_the_unix_socket
    make_gate
    server = start_bontebok(args: ["-w", "1"], rackup: <<~RUBY)
      File.open("first", File::CREAT | File::EXCL).close rescue $stderr.puts("again") || File.read("gate")
      #{GATED_APP}
    RUBY
    server.wait_for_output(/ ready in \d+ ms$/)
    Process.kill("KILL", master(server).pid)
    server.wait_for_output(/again/)
    server.signal("KILL")
    server.wait_for_group
    assert_equal %w[config.ru first gate], Dir.children(temp_dir).sort
  end

  def test_a_unix_socket_that_now_belongs_to_another_server_stays
    server = start_bontebok(args: ["-w", "1"], rackup: GATED_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    File.unlink(File.join(temp_dir, "bontebok.sock"))
    other = UNIXServer.new(File.join(temp_dir, "bontebok.sock"))
    server.signal("KILL")
    server.wait_for_group
    assert_path_exists other.path
  ensure
    other&.close
  end

  private

  def replace_master(server)
    former = master(server).pid
    Process.kill("TERM", former)
    eventually { gone?(former) }
  end
end
