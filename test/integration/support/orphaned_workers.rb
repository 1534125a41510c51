# frozen_string_literal: true

require_relative "process_tree"

# Used by tests of workers after their master has died.
module OrphanedWorkers
  include ProcessTree

  # While there is a file "hold", the application does not finish loading.
  APP = "sleep 0.01 while File.exist?('hold')\n#{ProcessTree::GATED_APP}".freeze

  def start(*args, rackup: APP, **options)
    server = start_bontebok(args: %w[-w 2] + args, rackup: rackup, **options)
    server.wait_for_output(/ ready in \d+ ms$/)
    wait_until { workers_of(server).size == 2 }
    server
  end

  def wait_until(&)
    eventually(&)
  end

  def master_of(server)
    children = Support::ProcessTable.children(server.pid)
    children.find { |child| child.command.start_with?("bontebok master") }&.pid
  end

  def workers_of(server)
    master = master_of(server)
    master ? Support::ProcessTable.children(master).map(&:pid) : []
  end

  # Returns the pids of the server's child processes, including zombies.
  def children_of(server)
    File.read("/proc/#{server.pid}/task/#{server.pid}/children").split.map(&:to_i)
  end

  def living(pids)
    pids.reject { |pid| gone?(pid) }
  end

  # Kills the master. The next master does not finish loading before #release. Returns the workers of the killed master.
  def orphan_workers(server)
    former = workers_of(server)
    temp_file("hold")
    kill_master(server)
    server.wait_for_output(/adopts the workers of the dead master/)
    former.each { |pid| server.wait_for_output(/ #{pid} w\d g1 the master is gone: serves/) }
    former
  end

  def kill_master(server)
    pid = eventually { master_of(server) }
    Process.kill("KILL", pid)
    eventually { gone?(pid) }
  end

  def release
    FileUtils.rm_f(File.join(temp_dir, "hold"))
  end

  def assert_left(server, former)
    eventually("the former workers' end", seen: -> { server.output.text }) { living(former).empty? }
    eventually { workers_of(server).size == 2 }
    eventually { !children_of(server).intersect?(former) }
    assert_equal 200, server.get.status
  end

  def ask(client)
    response = client.get
    assert_equal 200, response.status
    response.body.to_i
  end

  def open_files(pid)
    Support::ProcessTable.descriptors(pid).values
  end
end
