# frozen_string_literal: true

require "test_helper"
require_relative "process_tree"

# An application that does not let a process end, in a request or in its exit handlers: nobody stays for ever.
class ProcessStuckTest < Support::TestCase
  include ProcessTree

  STUCK_REQUEST = <<~RUBY
    run(lambda do |_|
      sleep if $stderr.puts("asleep").nil?
    ensure
      sleep
    end)
  RUBY

  # The supervisor waits for the master longer than the master for its workers, who would be left otherwise.
  def test_int_leaves_no_worker
    server = start_bontebok(args: ["-w", "2"], rackup: STUCK_REQUEST)
    in_a_request(server) { assert_equal 0, server.stop("INT").exitstatus }
    assert_match(/worker [12] \(pid \d+\) did not end within 2 s: killed/, server.output.text)
    refute_match(/master .* did not end/, server.output.text)
  end

  def test_int_after_term_leaves_no_worker
    server = start_bontebok(args: ["-w", "1", "--preload", "false"],
                            rackup: "at_exit { sleep }\n#{STUCK_REQUEST}")
    in_a_request(server) do
      server.signal("TERM")
      server.wait_for_output(/stopping/)
      assert_equal 0, server.stop("INT").exitstatus
    end
  end

  private

  def in_a_request(server)
    server.connect do |client|
      client.request("GET", "/")
      server.wait_for_output(/asleep/)
      yield
    end
  end
end
