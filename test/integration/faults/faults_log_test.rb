# frozen_string_literal: true

require "fcntl"
require "io/nonblock"
require "test_helper"

# A log that cannot be written: its file has reached the size limit of the process (ulimit -f), nobody reads its pipe,
# or the reader of its pipe is too slow.
class FaultsLogTest < Support::TestCase
  LIMIT = 4096
  ROOM = 100

  def test_a_log_file_at_its_limit_loses_lines_but_no_request
    log = temp_file("log", "x" * (LIMIT - ROOM))
    start_bontebok(ready: false, args: %w[-w 1 -E production], rlimit_fsize: LIMIT, err: [log, "a"], rackup: <<~RUBY)
      run(lambda do |env|
        $stderr.puts "said by the application" if env["PATH_INFO"] == "/say"
        [200, {}, ["served"]]
      end)
    RUBY
    # The test cannot wait for the start lines, because they are lost, too.
    wait_until_it_listens
    assert_equal [200, "served"], ask("/")
    assert_equal LIMIT, File.size(log)
    assert_equal 500, ask("/say").first
    assert_equal [200, "served"], ask("/")
    assert_equal LIMIT, File.size(log)
  end

  def test_a_log_that_nobody_reads_loses_lines_but_no_request
    IO.pipe do |_, log|
      log.fcntl(Fcntl::F_SETPIPE_SZ, 8192)
      log.nonblock = false
      start_bontebok(ready: false, args: %w[-w 1 -E production], err: log, rackup: <<~RUBY)
        run ->(_env) { raise "x" * 20_000 }
      RUBY
      wait_until_it_listens
      4.times { assert_equal 500, ask("/").first }
    end
  end

  # When a pipe has room again, the kernel wakes all processes that wait to write, but only one process gets the room.
  # In this test the pipe stays full, but wait_writable always reports room. The effect is the same as if other
  # processes always took the room first.
  def test_a_log_pipe_that_stays_full_loses_lines_but_no_request
    with_room_that_others_take("run ->(_env) { raise 'x' }") do |server|
      20.times { assert_equal 500, ask("/").first }
      assert_equal 0, server.stop.exitstatus
    end
  end

  # Before a process ends itself with exit! or kills a worker, it logs a line. The write of this line must not block.
  def test_a_log_pipe_that_stays_full_does_not_prevent_the_end_of_a_process
    with_room_that_others_take("run ->(_env) { sleep if File.write('asleep', '') }") do |server|
      Support::Client.open(socket) do |client|
        client.request("GET", "/")
        eventually { File.exist?(File.join(temp_dir, "asleep")) }
        server.signal("KILL")
        server.wait_for_group
        assert_empty server.group
      end
    end
  end

  private

  def with_room_that_others_take(application)
    liar = temp_file("liar.rb", "def $stderr.wait_writable(*) = self\n")
    IO.pipe do |_, log|
      nil while log.write_nonblock("x" * 4096, exception: false).is_a?(Integer)
      log.nonblock = false
      server = start_bontebok(ready: false, err: log, env: { "RUBYOPT" => "-r#{liar}" }, rackup: application,
                              args: %w[-w 2 -t 2 -E production --graceful-timeout 1])
      wait_until_it_listens
      yield server
    end
  end

  def wait_until_it_listens
    eventually { Support::Client.accepted?(socket) }
  end

  def socket = "unix:#{temp_dir}/bontebok.sock"

  def ask(target)
    Support::Client.open(socket) do |client|
      client.get(target).then { |response| [response.status, response.body] }
    end
  end
end
