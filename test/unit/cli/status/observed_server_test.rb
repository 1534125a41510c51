# frozen_string_literal: true

require "test_helper"
require "bontebok/cli/status/observation"
require "bontebok/cli/status/observed_server"

# What `bontebok status` makes of the answers of a server. The server is a thread.
class ObservedServerTest < Support::TestCase
  def setup
    @path = "#{temp_dir}/control"
    @server = UNIXServer.new(@path)
  end

  def teardown
    @thread&.join
    [@observed, @server].compact.each(&:close)
    super
  end

  def test_a_refusal_ends_the_command
    answer({ status: 1, text: "the user 7 may not control this server" })
    assert_equal "the user 7 may not control this server", assert_raises(Bontebok::StartError) { observe }.message
  end

  def test_a_refusal_cannot_control_the_terminal
    answer({ status: 1, text: "no\e[2J\u202e" })
    assert_equal "no?[2J?", assert_raises(Bontebok::StartError) { observe }.message
  end

  def test_a_key_of_any_bytes_in_an_answer
    answer(%({"version":1,"server":{"\xff":1,"pid":7},"descriptors":[]}\n))
    observe
    assert_equal({ pid: 7 }, @observed.facts)
  end

  # A container's pid differs from the pid that the kernel shows here.
  def test_a_server_in_another_namespace_of_pids
    answer({ server: { pid: 1 }, descriptors: [], memory: "no /proc" })
    observe
    assert_equal [true, nil], [@observed.answered?, @observed.pid]
    assert_equal ["the numbers of this server cannot be read: no /proc"],
                 Bontebok::Observation.new(@observed).snapshot.server[:trouble]
  end

  def test_an_answer_that_comes_late
    observe
    refute_predicate @observed, :answered?
    refute_predicate @observed, :stale?
    answer({ server: { pid: Process.pid }, descriptors: [] })
    @thread.join
    eventually("the answer") { @observed.stale? }
    answer({ server: { pid: Process.pid }, descriptors: [] })
    @observed.ask
    assert_equal [true, false], [@observed.answered?, @observed.stale?]
  end

  private

  def observe
    @observed = Bontebok::ObservedServer.new { |deadline| Bontebok::ControlConnection.new(@path, deadline) }
  end

  # Answers one request on each of the next connections.
  def answer(*messages)
    @thread = Thread.new do
      (@kept ||= []).concat(messages.map do |message|
        @server.accept.tap { |client| client.gets && client.write(line(message)) }
      end)
    end
  end

  def line(message) = message.is_a?(Hash) ? Bontebok::ControlMessage.line(message) : message
end
