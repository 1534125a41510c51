# frozen_string_literal: true

require "test_helper"
require_relative "../../support/listeners_case"
require "bontebok/sockets/departure"

# Tests when a server has left its port to another server. Both servers are in the test's process. Nobody accepts their
# connections, so the queues show which server has got the connections.
class SteeringTest < Support::ListenersCase
  def setup
    super
    @ours = listener("127.0.0.1:0")
    @clients = []
  end

  def teardown
    @clients.each(&:close)
    super
  end

  def test_a_server_without_another_one_stops_at_once
    assert_predicate steering, :over?
    assert_equal "", logged
  end

  def test_new_connections_go_to_the_other_server
    theirs = listener(@ours.to_s)
    steering = begun
    connect(20)
    assert_ends(steering)
    assert_equal [0, 21], [@ours.group.queued, theirs.group.queued], "20 connections and the probe"
    assert_match(/ info .* #{@ours}: another server gets the new connections$/, logged)
  end

  def test_the_newer_server_can_leave_as_well
    theirs = @ours
    @ours = listener(theirs.to_s)
    steering = begun
    connect(20)
    assert_ends(steering)
    assert_equal 21, theirs.group.queued
  end

  def test_connections_in_the_queue_are_awaited
    connect(1)
    listener(@ours.to_s)
    steering = begun
    @ours.group.stub(:members, counted(@ours.group.members)) { eventually { @calls > 3 || steering.over? } }
    refute_predicate steering, :over?
    accept
    assert_ends(steering)
  end

  # The connections 1 and 2 may be ours. The connection 3 begins later.
  def test_handshakes_that_had_begun_are_awaited
    listener(@ours.to_s)
    steering = begun
    @ours.group.stub(:half_open, counted([1, 2], [2], [2, 3], [3])) { assert_ends(steering) }
    assert_equal 4, @calls
  end

  # After three servers, the older of the two that are left may have the higher number. Here the guess is wrong, too.
  def test_a_wrong_guess_is_noticed
    theirs = listener(@ours.to_s)
    @ours.group.stub(:numbers, [0, 1]) do
      steering = begun(pids: [Process.pid])
      assert_equal 1, @ours.group.queued, "the probe"
      accept
      eventually { steering.over? || theirs.group.queued == 1 }
      connect(20)
      assert_ends(steering)
    end
    assert_equal [0, 21], [@ours.group.queued, theirs.group.queued]
  end

  def test_if_the_other_server_ends_nothing_is_awaited
    theirs = listener(@ours.to_s)
    connect(20)
    steering = begun
    theirs.close
    assert_ends(steering)
    assert_operator @ours.group.queued, :>, 0
  end

  def test_a_server_that_is_starting_is_awaited
    newcomer = bound
    steering = begun
    assert_match(/ info .* #{@ours}: another server is starting: this server serves until the other one l/, logged)
    newcomer.listen
    assert_ends(steering)
    assert_match(/ info .* #{@ours}: another server gets the new connections$/, logged)
  end

  def test_a_socket_with_another_port_is_not_awaited
    listeners("127.0.0.1:0", reuse_port: ["true"]).bind
    assert_predicate steering, :over?
  end

  def test_a_server_that_fails_to_start_is_not_awaited
    newcomer = bound
    steering = begun
    newcomer.close
    assert_ends(steering)
  end

  def test_a_server_that_is_starting_gets_a_limited_time
    bound
    assert_ends(steering(patience: 0.01))
  end

  # The kernel rounds a TCP_DEFER_ACCEPT of 5 up to 7.
  { 0 => 3, 5 => 8 }.each do |deferred, limit|
    define_method(:"test_the_wait_ends_after_#{limit}_s") do
      @ours.socket.setsockopt(:TCP, :DEFER_ACCEPT, deferred)
      listener(@ours.to_s)
      steering = begun
      @ours.group.stub(:queued, 1) do
        { -0.5 => false, 0 => true }.each do |more, over|
          now = Bontebok::Clock.now + limit + more
          Bontebok::Clock.stub(:now, now) { assert_equal over, steering.over? || false }
        end
      end
      assert_match(/ warn .* #{@ours}: stops although some handshakes are not complete$/, logged)
    end
  end

  # A kernel or a sandbox may forbid the questions, or the program.
  def test_a_kernel_that_forbids_something_is_no_error
    listener(@ours.to_s)
    { Bontebok::InetDiag => :sockets, @ours.group => :steer }.each do |object, name|
      object.stub(name, ->(*) { raise Errno::EACCES }) { assert_predicate steering, :over? }
      assert_includes logged, "#{@ours}: cannot give new connections to another server: Permission denied"
    end
  end

  private

  def listener(address, **options)
    listening(address, reuse_port: ["true"], **options).first
  end

  # A server that is starting.
  def bound
    listeners(@ours.to_s, reuse_port: ["true"]).tap(&:bind).tap do
      skip "the kernel does not show such sockets" unless @ours.group.newcomer?
    end
  end

  # pids: the processes that accept our connections.
  def steering(pids: [], patience: 60)
    group = @ours.group
    log = Bontebok::Log.new(@log.last)
    Bontebok::Departure::Steering.new(group, own: [group.cookie], pids: -> { pids }, patience: patience, log: log)
  end

  # New connections go to the first number.
  def begun(**options)
    steering(**options).tap { |steering| refute_predicate steering, :over? }
  end

  def assert_ends(steering)
    assert(eventually { steering.over? })
  end

  # Returns the results one after the other, and then the last one again. Counts the calls.
  def counted(*results)
    @calls = 0
    -> { results[(@calls += 1) - 1] || results.last }
  end

  def connect(count)
    @clients.concat(Array.new(count) { @ours.group.info.connect })
  end

  def accept
    @clients << @ours.socket.accept.first
  end

  def logged
    @log.first.read_nonblock(10_000, exception: false).then { |text| text == :wait_readable ? "" : text }
  end
end
