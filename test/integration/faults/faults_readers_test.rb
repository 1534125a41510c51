# frozen_string_literal: true

require "test_helper"
require_relative "../../conform/support/psgi"

# Many clients request large responses and read nothing. The responses are larger than spool_max, and there are more
# clients than threads. The server must still serve other clients.
class FaultsReadersTest < Support::TestCase
  APPLICATION = <<~RUBY
    LARGE = ("x" * 65_536).freeze
    run ->(env) { [200, {}, env["PATH_INFO"] == "/large" ? Array.new(128, LARGE) : ["small"]] }
  RUBY
  CROWD = 20
  # Seconds. A server with several lanes (threads) resets a slow reader after about 0.1 s. A server with one lane resets
  # a slow reader after 1 s.
  PROMPT = 5

  [%w[-w 2], %w[-w 1], %w[-w 1 -t 3]].each do |lanes|
    define_method("test_other_clients_are_served_by_lanes_of_#{lanes.join("_").tr("-", "")}") do
      @server = start_bontebok(listen: :tcp, args: [*lanes, "-E", "production", "--spool-max", "12M"],
                               rackup: APPLICATION)
      crowd = Array.new(CROWD) { Support::Client.new(@server.address).tap { |client| client.request("GET", "/large") } }
      5.times { assert_equal "small", served_promptly }
      assert_match(/a client that reads slowly was reset/, @server.output.text)
      refute_match(/request_timeout|RequestTimeout|ClientGone/, @server.output.text)
    ensure
      crowd&.each(&:close)
    end
  end

  private

  def served_promptly
    @server.connect do |client|
      client.request("GET", "/")
      client.read_response(PROMPT).body
    end
  end
end

# The same with the Perl handler, which has one process with one thread.
class PsgiFaultsReadersTest < FaultsReadersTest
  include Conform::Psgi

  %w[w_2 w_1_t_3].each { |lanes| undef_method("test_other_clients_are_served_by_lanes_of_#{lanes}") }

  def applications = { APPLICATION => "large" }
end
