# frozen_string_literal: true

require_relative "../support/lane_case"

# The queue and the scoreboard that workers share (Worker#share_queue, Worker#scoreboard, Core::Scoreboard), and the
# events of the I/O thread.
class ExtSiblingsTest < Support::LaneCase
  Core = Bontebok::Core

  # Starts two workers in this process, each with its own socket. #listener binds both sockets to the same path, because
  # a worker serves a connection of the other worker only if both workers have a listener with the same address.
  def siblings
    need_workers
    ends = Socket.pair(:UNIX, :SEQPACKET)
    @scoreboard = Core::Scoreboard.new(8)
    entered, leave = Array.new(2) { Queue.new }
    servers = %w[one other].map do |name|
      app = lambda do |env|
        entered.push(name) && leave.pop if env["PATH_INFO"] == "/gate"
        [200, {}, [name]]
      end
      serve(listener: listener(name), siblings: [ends.map { |socket| lent(socket) }, @scoreboard], &app)
    end
    [*servers, entered, leave]
  end

  def test_an_idle_worker_serves_connections_of_a_busy_worker
    one, other, entered, leave = siblings
    gated, kept = Array.new(2) { one.connect }
    [gated, kept].each.with_index(1) do |client, count|
      assert_equal "one", ask(client, "/")
      one.await_requests(count) # otherwise the next connection might be passed on
    end
    gated.request("GET", "/gate")
    assert_equal "one", entered.pop
    20.times { assert_equal "other", ask(kept, "/") }
    leave.push(:now)
    assert_equal "one", gated.read_response.body
    assert_equal 200, other.get.status
  ensure
    [gated, kept].each { |client| client&.close }
  end

  def test_the_scoreboard_counts_responses_with_errors
    scoreboard = Core::Scoreboard.new(2)
    queue = Socket.pair(:UNIX, :SEQPACKET).map { |socket| lent(socket) }
    server = serve(siblings: [queue, scoreboard]) { |env| [env["PATH_INFO"].delete("/").to_i, {}, []] }
    %w[/200 /404 /499 /500 /503].each { |path| server.get(path) }
    assert_equal [5, 2], scoreboard.lanes.first.values_at(:requests, :errors)
  end

  # The scoreboard has no room for the third lane.
  def test_the_scoreboard_shows_what_has_left_the_lanes
    scoreboard = Core::Scoreboard.new(2)
    server = serve(count: 3, siblings: [Socket.pair(:UNIX, :SEQPACKET).map { |socket| lent(socket) }, scoreboard])
    [[4, true], [1, false]].each do |count, waits|
      server.worker.show_detached(count, waits)
      shown = scoreboard.lanes.map { |lane| lane.values_at(:detached, :waits) }
      assert_equal [[0, waits], [count, waits]], shown.sort_by(&:first)
    end
  end

  def test_the_scoreboard_shows_the_state_of_each_lane
    assert_empty Core::Scoreboard.new(8).lanes
    one, _other, entered, leave = siblings
    one.get
    one.connect do |gated|
      gated.request("GET", "/gate")
      entered.pop
      eventually { @scoreboard.lanes.map { |lane| lane[:state] } == %i[request idle] }
      busy, idle = @scoreboard.lanes
      assert_equal [Process.pid, false, 2], busy.values_at(:pid, :leaves, :requests)
      assert_kind_of Float, busy[:queue_time]
      assert_equal [Process.pid, false, 0, 0.0, nil], idle.values_at(:pid, :leaves, :requests, :queue_time, :taken)
      eventually { @scoreboard.lanes.first[:taken] > busy[:taken] }
      leave.push(:now)
      gated.read_response
    end
    servers.each(&:stop)
    assert_equal([true, true], @scoreboard.lanes.map { |lane| lane[:leaves] })
    assert_equal({ readers: 0, senders: 0 }, @scoreboard.slow)
  end

  def test_wrong_calls_of_a_scoreboard_raise
    board = Core::Scoreboard.new(1)
    board.clear(Process.pid, -1, board)
    assert_raises(RuntimeError) { board.send(:initialize, 1) }
    assert_raises(RuntimeError) { Core::Scoreboard.allocate.clear(1, -1, Core::Scoreboard.new(1)) }
    assert_raises(TypeError) { Core::Worker.new.scoreboard(Object.new) }
    assert_raises(TypeError) { Core::Scoreboard.new("many") }
  end

  def test_descriptors_that_are_no_shared_queue_raise
    need_workers
    assert_raises(SystemCallError) { Core::Worker.new.share_queue(-1, -1) }
    streams = Socket.pair(:UNIX, :STREAM)
    assert_raises(Errno::EPROTOTYPE) { Core::Worker.new.share_queue(*streams.map(&:fileno)) }
  ensure
    streams&.each(&:close)
  end

  def test_a_request_that_takes_too_long_is_an_event
    entered, leave = Array.new(2) { Queue.new }
    server = serve(settings: { request_timeout: 50 }) { |_| entered.push(:now) && leave.pop && OK }
    server.connect do |client|
      client.request("GET", "/")
      entered.pop
      assert_equal 504, client.read_response.status
      alarm = IO.for_fd(server.worker.alarm, autoclose: false)
      assert alarm.wait_readable(Support::Deadline.new.left)
      text = "127.0.0.1: the application has not answered within request_timeout (504)"
      assert_equal [:warn, text], server.worker.event
      assert_nil server.worker.event
    end
  ensure
    leave.push(:now)
  end

  def test_wrong_arguments_of_tell_raise
    worker = Core::Worker.new
    assert_raises(ArgumentError) { worker.tell(1, "two") }
    assert_raises(TypeError) { worker.tell(1, nil) }
  end

  private

  def listener(name)
    path, file = %W[siblings #{name}].map { |text| File.join(temp_dir, "#{text}.sock") }
    socket = UNIXServer.new(path)
    File.rename(path, file)
    [socket, Support::Address.new("unix:#{file}")]
  end

  def ask(client, target)
    client.get(target).body
  end
end
