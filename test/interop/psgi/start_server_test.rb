# frozen_string_literal: true

require "test_helper"
require_relative "support/plackup"

# start_server opens the listeners, executes plackup, and replaces plackup. The tests of the applications ask servers
# under start_server, too.
class PsgiStartServerTest < Support::TestCase
  # start_server ends the former server with TERM, or with another signal.
  def test_a_newer_server_takes_over
    [[], %w[--signal-on-hup=USR1]].each do |options|
      start(*options)
      former = @starter.workers
      assert_includes former, responding_workers.first
      @starter.signal("HUP")
      eventually("the end of the former server", seen: -> { @starter.output.text }) do
        responding_workers
        @starter.output.text.match?(/^old worker \d+ died, status:0$/)
      end
      refute_includes former, responding_workers.first
      assert_empty former & @starter.workers
      assert_equal 0, @starter.stop.exitstatus
    end
  end

  private

  def start(*options)
    @port = held_port
    @path = File.join(temp_dir, "#{@port}.sock")
    @starter = Interop::StartServer.new(temp_dir, "where", ["127.0.0.1:#{@port}", "unix:#{@path}"], options: options)
    children << @starter.wait_until_ready
  end

  # Asks each listener on a new connection. The application gets the listener's name and port, and none of the variables
  # of start_server. Returns the process ids of the workers that have responded.
  def responding_workers
    responses = @starter.addresses.map { |address| Support::Client.body_from(address).split }
    assert_equal([["127.0.0.1", @port.to_s], ["localhost", @path]], responses.map { |words| words.values_at(1, 2) })
    assert_equal [4, 4], responses.map(&:size)
    responses.map { |words| words.first.to_i }
  end
end
