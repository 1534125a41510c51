# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# The application of a worker opens as many files as the limit of descriptors allows.
class ProcessStarvedTest < Support::TestCase
  include ProcessTree

  APPLICATION = <<~RUBY
    Process.setrlimit(:NOFILE, 64)
    KEPT = []
    FULL = Queue.new
    def keep = KEPT << File.open("/dev/null")

    # Opens files in an endless loop, so that it also takes each descriptor that the server closes.
    def keep_all
      loop { keep }
    rescue Errno::EMFILE
      FULL << true if FULL.empty?
      sleep 0.001
      retry
    end

    run(lambda do |env|
      if env["PATH_INFO"] == "/take"
        Thread.new { keep_all }
        FULL.pop
      end
      [200, { "connection" => "close" }, [Process.pid.to_s]]
    end)
  RUBY

  def test_a_worker_without_descriptors_is_replaced
    server = start_bontebok(args: ["-w", "1"], rackup: APPLICATION)
    former = wait_for_workers(server, 1)
    assert_equal former.first.to_s, server.get("/take").body
    eventually("a response of another worker") { ![former.first.to_s, nil].include?(body_of_response(server)) }
    assert_match(/warn #{former.first} .* wants to be replaced: no connection can be accepted: Too many open files/,
                 server.output.text)
    wait_for_workers(server, 1, without: former)
  end

  private

  # Returns the body of a response, or nil if the connection is lost. A connection that is passed on is lost if the
  # application takes the last descriptor at that moment, and no accept4 has failed before.
  def body_of_response(server)
    server.get.body
  rescue Support::Client::Closed
    eventually("the warning") { server.output.text.include?("is lost: no descriptors are left") }
    nil
  end
end
