# frozen_string_literal: true

require "test_helper"
require_relative "../../support/listeners_case"

# Tests what several listening sockets of one port know of each other, and how one of them gets all connections.
class ReuseportGroupTest < Support::ListenersCase
  def test_without_reuse_port_there_is_no_group
    assert_nil listening("127.0.0.1:0").first.group
  end

  def test_the_members_have_the_same_address_and_port
    first = listener("127.0.0.1:0")
    port = first.server_port
    second = listener("127.0.0.1:#{port}")
    listener("127.0.0.2:#{port}")
    listener("[::]:#{port}")
    assert_equal [first.group.cookie, second.group.cookie].sort, first.group.members
    assert_equal first.group.members, second.group.members
  end

  def test_the_number_of_another_server_comes_first
    groups = several(2).map(&:group)
    assert_equal([[1, 0], [0, 1]], groups.map { |group| group.numbers(group.members) })
    third = listener(groups.first.to_s).group
    assert_equal([[2, 1, 0], [0, 1, 2]], [groups.first, third].map { |group| group.numbers(group.members) })
  end

  def test_all_connections_go_to_the_socket_with_the_number
    listeners = several(3)
    [2, 0, 1].each do |number|
      listeners.first.group.steer(number)
      connected(listeners) { |queued| assert_equal [0, 1, 2].map { |one| one == number ? 20 : 0 }, queued }
    end
  end

  def test_a_number_without_a_socket_has_no_effect
    listeners = several(2)
    listeners.first.group.steer(2)
    connected(listeners) { |queued| assert_equal 20, queued.sum }
  end

  # Otherwise the newcomer would get all connections.
  def test_a_newcomer_removes_the_program_of_a_server_that_has_left
    listeners = several(2)
    listeners.first.group.steer(1)
    listeners.shift.close
    listeners << listener(listeners.first.to_s)
    connected(listeners, 60) { |queued| assert(queued.all?(&:positive?), "#{queued} have come") }
  end

  # One of the two may be about to leave.
  def test_a_third_server_does_not_remove_the_program
    listeners = several(2)
    listeners.first.group.steer(1)
    listeners << listener(listeners.first.to_s)
    connected(listeners) { |queued| assert_equal [0, 20, 0], queued }
  end

  def test_half_open_connections_are_shown_until_they_have_sent_something
    ours = listener("127.0.0.1:0")
    ours.socket.setsockopt(:TCP, :DEFER_ACCEPT, 5)
    group = ours.group
    client = group.info.connect
    assert_equal [1, 0], [group.half_open.size, group.queued]
    client.write("x")
    eventually { group.queued == 1 }
    assert_empty group.half_open
  ensure
    client&.close
  end

  # A kernel or a sandbox may forbid the questions. The start must not fail.
  def test_a_socket_listens_although_the_kernel_tells_nothing
    Bontebok::InetDiag.stub(:sockets, ->(*) { raise Errno::EACCES }) do
      Support::Client.open(listener("127.0.0.1:0").to_s) { |client| assert client }
    end
  end

  private

  def listener(address, **options)
    listening(address, reuse_port: ["true"], **options).first
  end

  def several(count)
    first = listener("127.0.0.1:0")
    [first, *Array.new(count - 1) { listener(first.to_s) }]
  end

  # Yields the number of connections that each listener has got.
  def connected(listeners, count = 20)
    clients = Array.new(count) { listeners.first.group.info.connect }
    yield(listeners.map { |listener| listener.group.queued })
  ensure
    listeners.each { |listener| listener.group.queued.times { listener.socket.accept.first.close } }
    clients&.each(&:close)
  end
end
