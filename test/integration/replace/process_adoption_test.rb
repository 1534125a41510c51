# frozen_string_literal: true

require "test_helper"
require_relative "../support/orphaned_workers"

# If a master dies, its workers serve until all workers of the next generation are ready. A generation is a master with
# its workers. process_adoption_end_test.rb tests the end of the former workers.
class ProcessAdoptionTest < Support::TestCase
  include OrphanedWorkers

  # While there is a file "bad", only the first worker can start.
  BAD = "after_fork { |worker| raise 'bad code' if File.exist?('bad') && worker.number > 1 }\n"

  def test_the_workers_serve_until_the_next_generation_is_ready
    server = start
    kept = Array.new(4) { Support::Client.new(server.address) }
    kept.each { |client| ask(client) }
    former = orphan_workers(server)
    (kept.map { |client| ask(client) } + [server.get.body.to_i]).each { |pid| assert_includes former, pid }
    release
    assert_left(server, former)
    present = workers_of(server)
    kept.each { |client| assert_includes present, ask(client) }
    assert_equal 2, server.output.text.scan(/ info #{server.pid} .* worker \(pid \d+\) has left: exit status 0$/).size
  ensure
    kept&.each(&:close)
  end

  def test_the_workers_open_their_logs_again
    server = start("--access-log", "access.log")
    former = orphan_workers(server)
    %w[HUP USR1].each do |signal|
      server.get("/before-#{signal}")
      eventually { File.size?(File.join(temp_dir, "access.log")) }
      File.rename(File.join(temp_dir, "access.log"), File.join(temp_dir, "rotated.log"))
      server.signal(signal)
      eventually { former.all? { |pid| open_files(pid).include?(File.join(temp_dir, "access.log")) } }
    end
    assert_includes former, server.get.body.to_i
  end

  # At most max_workers workers without a master keep serving. These are the workers of the first master that has died.
  def test_masters_that_die_again_and_again_do_not_fill_the_memory
    temp_file("bad.rb", BAD)
    server = start("-c", "bad.rb", "--err-respawn-interval", "50ms")
    former = workers_of(server)
    temp_file("bad")
    kill_master(server)
    4.times do |generation|
      server.wait_for_output(/ g#{generation + 2} not all workers are ready/)
      kill_master(server)
      eventually { (children_of(server) - [master_of(server)]).sort == former }
    end
    File.unlink(temp_file("bad"))
    assert_left(server, former)
    eventually { children_of(server).size == 1 }
  end

  def test_the_supervisor_reaps_daemons_of_the_application_and_sends_them_no_signal
    server = start(rackup: <<~RUBY + APP)
      def daemon
        Process.setproctitle("a daemon")
        sleep if $stderr.puts("daemon \#{Process.pid}").nil?
      end
      Process.wait(fork { fork { daemon } && exit! }) unless File.exist?("once")
      File.write("once", "")
    RUBY
    daemon = server.wait_for_output(/daemon (\d+)/)[1].to_i
    former = orphan_workers(server)
    release
    assert_left(server, former)
    assert_includes children_of(server), daemon
    Process.kill("TERM", daemon)
    eventually { !File.exist?("/proc/#{daemon}") }
  end

  # A worker that loads serves no client, and it is not on the scoreboard. So the supervisor does not adopt it.
  def test_a_worker_that_loads_leaves_with_its_master
    server = start("--preload", "false")
    temp_file("hold")
    server.signal("HUP")
    loading = eventually { (pids = workers_of(server)).size == 4 && pids.last(2) }
    former = workers_of(server).first(2)
    kill_master(server)
    eventually { living(loading).empty? }
    assert_equal former, living(former)
    release
    assert_left(server, former)
  end

  # The master lives, but the worker's channel to the master is closed. The supervisor adopts only workers of a dead
  # master.
  def test_a_worker_that_has_lost_its_channel_leaves
    server = start_bontebok(args: %w[-w 1], rackup: <<~RUBY)
      run(lambda do |env|
        Thread.pass until Thread.main.backtrace.join.include?("system/loop.rb")
        Bontebok::Channel.all.each { |channel| channel.to_io.shutdown } if env["PATH_INFO"] == "/lose"
        [200, {}, [Process.pid.to_s]]
      end)
    RUBY
    former = server.get("/lose").body
    server.wait_for_output(/ #{former} w1 g1 leaves: /)
    server.wait_for_output(/worker \(pid #{former}\) has left: exit status 0$/)
    refute_equal former, server.get.body
  end

  # The supervisor finds workers only on the scoreboard.
  def test_a_worker_without_a_slot_on_the_scoreboard_leaves
    temp_file("board.rb", <<~RUBY)
      require "bontebok/sockets/worker_links"
      Bontebok::WorkerLinks.class_eval { remove_const(:LANES) && const_set(:LANES, 1) }
    RUBY
    server = start("-c", "board.rb")
    former = workers_of(server)
    temp_file("hold")
    kill_master(server)
    left = server.wait_for_output(/ (\d+) w\d g1 leaves: the master is gone/)[1].to_i
    eventually { living(former) == former - [left] }
    assert_equal (former - [left]).first, server.get.body.to_i
    release
    assert_left(server, former)
  end

  # The supervisor may have read the scoreboard before the worker was on it.
  def test_a_worker_that_begins_to_serve_when_its_master_dies_leaves
    temp_file("lanes.rb", <<~RUBY)
      require "bontebok/workers/lanes"
      Bontebok::Lanes.prepend(Module.new do
        def start
          super
          return unless File.exist?("kill")

          File.unlink("kill")
          Process.kill("KILL", master = Process.ppid)
          sleep 0.01 while Process.ppid == master
        end
      end)
    RUBY
    server = start("-c", "lanes.rb")
    former = workers_of(server)
    temp_file("kill")
    server.signal("TTIN")
    server.wait_for_output(/ w3 g1 leaves: the master is gone/)
    server.wait_for_output(/ w3 g2 ready after/)
    eventually { living(former).empty? && children_of(server).size == 1 }
    assert_empty living(former)
  end
end
