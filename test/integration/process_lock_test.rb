# frozen_string_literal: true

require "test_helper"
require_relative "busy_worker"

# A worker whose threads wait for Ruby's lock keeps nobody waiting while another worker is idle.
class ProcessLockTest < Support::TestCase
  include BusyWorker

  # Answers with the worker's pid. From /hold on a thread that serves nobody has the lock for seconds: crypt is one call
  # in C, in which Ruby switches to no other thread.
  APPLICATION = <<~RUBY
    hold = lambda do
      $stderr.puts "held"
      "secret".crypt("$6$rounds=4000000$salt")
      $stderr.puts "released"
    end
    run(lambda do |env|
      Thread.new(&hold) if env["PATH_INFO"] == "/hold"
      [200, {}, [Process.pid.to_s]]
    end)
  RUBY

  def hold(server, client)
    client.request("GET", "/hold")
    client.read_response.body.to_i.tap { server.wait_for_output(/^held$/) }
  end

  def assert_served_elsewhere(threads)
    server = start("-w", "2", "-t", threads.to_s, application: APPLICATION)
    kept = Array.new(10) { connect(server) }
    kept.each { |client| ask(client) }
    held = hold(server, kept.first)
    new = Array.new(20) { ask(connect(server)) }
    pids = [*new, *kept.flat_map { |client| Array.new(3) { ask(client) } }]
    refute_match(/^released$/, server.output.text)
    assert_equal [other_than(server, held)], pids.uniq
    server.wait_for_output(/^released$/)
  end

  def test_one_thread = assert_served_elsewhere(1)
  def test_several_threads = assert_served_elsewhere(3)
end
