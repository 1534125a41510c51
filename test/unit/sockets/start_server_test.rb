# frozen_string_literal: true

require "minitest/mock"
require "socket"
require "test_helper"
require "bontebok/sockets/start_server"

# Tests what a server sees of the other servers that start_server has started. test/integration tests real servers.
class StartServerViewTest < Support::TestCase
  def setup
    @socket = TCPServer.new("127.0.0.1", 0)
    @view = Bontebok::StartServer.new(@socket)
  end

  def teardown
    @socket.close
  end

  def test_all_copies_of_the_socket_have_the_same_owner
    assert_equal [false, 0], [@view.owned?, @view.owner]
    @view.own
    copy = @socket.dup
    assert_equal [true, Process.pid], [@view.owned?, Bontebok::StartServer.new(copy).owner]
  ensure
    copy&.close
  end

  def test_a_system_without_owners_of_sockets_is_no_error
    @socket.stub(:fcntl, ->(*) { raise Errno::EINVAL }) { @view.own }
    refute_predicate @view, :owned?
  end

  # Two children of the test. The second one is younger.
  def test_only_younger_children_of_start_server_are_newer
    with_child do |older|
      with_child do |younger|
        views = [older, younger].map { |pid| seen_by(pid) { @view.newer } }
        assert_equal [[younger], []], views
      end
    end
  end

  # The kernel has made another process the parent, and children of that process are no servers.
  def test_without_start_server_no_server_is_newer
    with_child do |older|
      with_child { assert_equal [], seen_by(older, parent: 1) { @view.newer } }
    end
  end

  private

  # Runs the block while a child lives that was started after the last clock tick.
  def with_child
    tick = ticks
    eventually("a clock tick") { ticks > tick }
    reader, writer = IO.pipe
    pid = fork { exit!([writer.close, reader.read].empty?) }
    yield pid
  ensure
    [reader, writer].each(&:close)
    Process.wait(pid)
  end

  def ticks
    (Process.clock_gettime(Process::CLOCK_BOOTTIME) * Etc.sysconf(Etc::SC_CLK_TCK)).to_i
  end

  # Runs the block as if this process were its own child `pid`.
  def seen_by(pid, parent: Process.pid, &block)
    Process.stub(:ppid, Process.pid) { @view = Bontebok::StartServer.new(@socket) }
    Process.stub(:pid, pid) { Process.stub(:ppid, parent, &block) }
  end
end
