# frozen_string_literal: true

require "test_helper"
require "bontebok/config/option_types"
require "bontebok/sockets/control/control_connection"
require "bontebok/sockets/control/control_socket"

# The clients of a control socket, without a server.
class ControlSocketTest < Support::TestCase
  MOST = Bontebok::ControlSocket::MOST

  def setup
    @path = "#{temp_dir}/control"
    @control = Bontebok::ControlSocket.new(@path)
    @connections = []
    @waiting = []
  end

  def teardown
    @connections.each(&:close)
    @control.close
    super
  end

  # `watch` leaves the connection open, and any number of commands may watch. Each takes a descriptor.
  def test_the_oldest_client_that_has_its_answer_makes_room
    waits = ask("deploy")
    watching = Array.new(MOST + 10) { ask("watch") }
    assert_equal MOST, clients.size
    assert_equal(11, watching.count { |connection| closed?(connection) })
    assert closed?(watching[10])
    refute closed?(watching[11])
    refute closed?(waits), "a command without its result"
  end

  def test_a_client_without_a_request_makes_room_first
    watches = ask("watch")
    connect
    (MOST - 2).times { ask("watch") }
    assert_equal MOST, clients.size
    ask("watch")
    refute closed?(watches)
    assert closed?(@connections[1])
  end

  # The client would wait for the rest.
  def test_an_answer_that_has_no_room_closes_the_connection
    client = clients_of { ask("deploy") }.last
    client.pass([], text: "x" * 10_000_000)
    assert_predicate client, :closed?
  end

  private

  def connect = @connections.push(Bontebok::ControlConnection.new(@path)).last

  # The server answers `watch` at once.
  def ask(command)
    connection = connect
    connection.write({ command: command })
    @control.take { |request, client| request["command"] == "watch" ? client.pass([], server: {}) : @waiting << client }
    connection
  end

  def clients = @control.sources.drop(1)

  def clients_of
    yield
    clients
  end

  def closed?(connection)
    loop do
      message = connection.read(Bontebok::Deadline.new(0))
      return message.nil? unless message
    end
  end
end
