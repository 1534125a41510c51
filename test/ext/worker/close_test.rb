# frozen_string_literal: true

require_relative "../support/lane_case"

# Worker#close and Lane#close: they free the core's memory, threads and descriptors before the garbage collector runs.
class CloseTest < Support::LaneCase
  Core = Bontebok::Core
  METHODS = { listen: [0, "x", 1], share_queue: [0, 1], scoreboard: [nil], public: [nil], start_io_thread: [],
              alarm: [], overdue?: [], overdue_is_logged: [], event: [], tell: [0, "abcd"], drain: [], retire: [],
              reopen_logs: [], out_of_band_after: [1], beat: [], show_detached: [1, true], requests: [],
              rest: [] }.freeze

  # The I/O thread has ended, too, because its descriptors are closed after its end.
  def test_a_closed_worker_has_no_descriptor
    GC.start
    GC.disable
    serve_and_close
    before = descriptors
    5.times { serve_and_close }

    assert_equal before, descriptors
  ensure
    GC.enable
  end

  def test_a_second_close_does_nothing
    worker, lane, = by_hand(OK)
    2.times { [lane, worker].each { |object| assert_nil object.close } }
  end

  def test_methods_of_closed_objects_raise
    worker, lane, = by_hand(OK)
    [lane, worker].each(&:close)
    METHODS.each { |name, arguments| assert_raises(RuntimeError, name.to_s) { worker.public_send(name, *arguments) } }
    %i[serve time_out overdue hijack].each { |name| assert_raises(RuntimeError, name.to_s) { lane.public_send(name) } }
    assert_raises(RuntimeError) { Core::Lane.new(worker, OK, report: nil) }
  end

  # The lane keeps the core's worker.
  def test_lanes_outlive_the_worker
    worker, lane, address = by_hand(->(_env) { OK })
    thread = Thread.new { lane.serve }
    Support::Client.open(address) do |client|
      assert_equal "ok", client.get("/").body
      worker.drain
      worker.close

      assert_equal "ok", client.get("/").body
    end
    thread.join
    lane.close
  end

  def test_a_lane_that_serves_cannot_be_closed
    server = serve { [200, {}, [assert_raises(ThreadError) { server.lanes.first.close }.message]] }

    assert_equal "a thread serves this lane", server.get.body
  end

  # The callable runs after the kill.
  def test_a_lane_whose_thread_was_killed_cannot_be_closed_before_its_end
    errors = Queue.new
    server = serve do |env|
      env["rack.after_reply"] << -> { errors << assert_raises(ThreadError) { server.lanes.first.close } }
      Thread.current.kill
    end
    server.connect do |client|
      client.request("GET", "/")
      server.threads.each(&:join)

      assert_equal 1, errors.size
    end
    server.lanes.each(&:close)
  end

  def test_a_stream_outlives_the_worker
    stream = nil
    server = serve { [200, {}, ->(given) { stream = given }] }
    server.connect do |client|
      client.request("GET", "/")
      server.await_requests(1)
      server.reports
      server.stop
      [*server.lanes, server.worker].each(&:close)
      GC.start
      stream << "late"
      stream.close

      assert_equal "late", client.read_response.body
    end
  end

  def test_objects_are_closed_in_any_order_under_gc_stress
    skip "GC.stress" if VALGRIND
    3.times do
      objects = closable_objects
      under_gc_stress { objects.shuffle.each { |object| assert_nil object.close } }
    end
  end

  private

  def serve_and_close
    server = serve { OK }
    server.get
    server.stop
    [*server.lanes, server.worker].each(&:close)
  end

  def closable_objects
    worker = Core::Worker.new
    worker.share_queue(*Socket.pair(:UNIX, :SEQPACKET).map { |socket| lent(socket) }) unless Core::PORTABLE
    worker.scoreboard(Core::Scoreboard.new(4))
    worker.start_io_thread
    [worker, *Array.new(2) { Core::Lane.new(worker, OK, report: nil) }]
  end

  def descriptors = Dir.children("/proc/self/fd").size
end
