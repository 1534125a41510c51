# frozen_string_literal: true

require_relative "../support/lane_case"

# Tests when a lane reports :out_of_band after Worker#out_of_band_after, and which worker accepts connections during
# this report. Out-of-band work is work between two requests.
class ExtOutOfBandTest < Support::LaneCase
  def test_out_of_band_is_reported_once_after_the_given_number_of_requests
    server = serve { OK }
    server.worker.out_of_band_after(3)
    2.times { server.get }
    assert_empty server.reports
    server.get
    assert_equal [:out_of_band, nil, nil], server.next_report.to_a
    5.times { server.get }
    assert_empty server.reports
    server.worker.out_of_band_after(1)
    server.get
    assert_equal :out_of_band, server.next_report.level
  end

  def test_zero_turns_the_report_off_and_wrong_numbers_raise
    server = serve { OK }
    server.worker.out_of_band_after(1)
    server.worker.out_of_band_after(0)
    20.times { server.get }
    assert_empty server.reports
    [-1, 1 << 40].each { |number| assert_raises(ArgumentError) { server.worker.out_of_band_after(number) } }
  end

  def test_siblings_serve_while_a_worker_is_out_of_band
    [1, 3].each do |count|
      aside, sibling, entered, leave = pair(count: count)
      aside.worker.out_of_band_after(1)
      send_until_out_of_band(aside, entered)
      assert_equal ["sibling"] * 30, Array.new(30) { aside.get.body }
      leave.push(:now)
      sibling.worker.retire
      assert_equal "aside", aside.get.body
    end
  end

  # Some of the kept connections belong to the lane that is out of band, and some belong to the lanes that wait.
  def test_siblings_serve_kept_connections_while_a_worker_is_out_of_band
    aside, _, entered, leave = pair(count: 3)
    kept = Array.new(12) { aside.connect.tap { |client| client.get.body } }
    aside.worker.out_of_band_after(1)
    send_until_out_of_band(aside, entered)
    assert_equal(["sibling"] * 12, kept.map { |client| client.get.body })
  ensure
    leave&.push(:now)
    kept&.each(&:close)
  end

  def test_clients_wait_for_a_worker_without_siblings
    entered, leave = Array.new(2) { Queue.new }
    server = serve(report: ->(*) { entered.push(:now) && leave.pop }) { OK }
    server.worker.out_of_band_after(1)
    server.get
    entered.pop
    server.connect do |client|
      client.request("GET", "/")
      assert client.quiet?(0.2)
      leave.push(:now)
      assert_equal 200, client.read_response.status
    end
  end

  def test_out_of_band_is_not_reported_while_another_lane_serves
    server, entered, leave = two_lanes
    server.worker.out_of_band_after(50)
    gated = server.connect.tap { |client| client.request("GET", "/gate") }
    entered.pop
    100.times { server.get }
    assert_empty server.reports
    leave.push(:now)
    gated.read_response
    eventually { @scoreboard.lanes.all? { |lane| lane[:state] == :idle } }
    server.get
    assert_equal :out_of_band, server.next_report.level
  ensure
    gated&.close
  end

  def test_a_worker_that_is_never_idle_reports_out_of_band_after_ten_times_the_number
    server, entered, leave = two_lanes
    server.worker.out_of_band_after(2)
    gated = server.connect.tap { |client| client.request("GET", "/gate") }
    entered.pop
    19.times { server.get }
    assert_empty server.reports
    server.get
    assert_equal :out_of_band, server.next_report.level
  ensure
    leave.push(:now)
    gated&.close
  end

  # The next request is always there, so the lane is never idle.
  def test_out_of_band_is_reported_in_endless_pipelining
    seen = []
    server = serve(report: ->(level, *) { seen << level }) { [200, {}, [seen.size.to_s]] }
    server.worker.out_of_band_after(1)
    server.connect do |client|
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 16)
      assert_equal [*["0"] * 10, *["1"] * 6], Array.new(16) { client.read_response.body }
    end
    assert_equal [:out_of_band], seen
  end

  def test_an_exception_of_the_report_harms_no_request
    server = serve(report: ->(*) { raise "no" }) { OK }
    server.worker.out_of_band_after(1)
    2.times { assert_equal 200, server.get.status }
  end

  def test_a_lane_whose_thread_is_killed_out_of_band_can_be_served_again
    worker, lane, address = by_hand(->(_) { OK }, report: ->(level, *) { Thread.current.kill if level == :out_of_band })
    worker.out_of_band_after(1)
    thread = Thread.new { lane.serve }
    assert_equal 200, get(address)
    thread.join
    thread = Thread.new { lane.serve }
    assert_equal 200, get(address)
  ensure
    worker.drain
    thread&.join
  end

  private

  # Starts two workers with one listener and one shared queue. The first worker is out of band until `leave` has an
  # element.
  def pair(count:)
    need_workers
    entered, leave = Array.new(2) { Queue.new }
    listener, address = unix_listener
    other = listener.dup
    queue = Socket.pair(:UNIX, :SEQPACKET)
    report = ->(level, *) { entered.push(:now) && leave.pop if level == :out_of_band }
    [server_on(listener, address, "aside", queue, count: count, report: report),
     server_on(other, address, "sibling", queue), entered, leave]
  end

  # A lane that is about to wait still counts as busy. The kernel may wake the sibling first, so several requests come
  # at once.
  def send_until_out_of_band(aside, entered)
    eventually do
      clients = Array.new(4) { aside.connect.tap { |client| client.request("GET", "/") } }
      clients.each(&:read_response).each(&:close)
      !entered.empty?
    end
    entered.pop
  end

  def server_on(listener, address, name, queue, **options)
    app = ->(_) { [200, {}, [name]] }
    siblings = [queue.map { |socket| lent(socket) }, Bontebok::Core::Scoreboard.new(4)]
    Support::LaneServer.new(app, listener, address, siblings: siblings, **options).tap { |server| servers << server }
  end

  def two_lanes
    entered, leave = Array.new(2) { Queue.new }
    @scoreboard = Bontebok::Core::Scoreboard.new(2)
    queue = Socket.pair(:UNIX, :SEQPACKET).map { |socket| lent(socket) }
    server = serve(count: 2, siblings: [queue, @scoreboard]) do |env|
      entered.push(:now) && leave.pop if env["PATH_INFO"] == "/gate"
      OK
    end
    [server, entered, leave]
  end

  def get(address)
    Support::Client.open(address) do |client|
      client.get.status
    end
  end
end
