# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# The application of a worker opens as many files as the limit of descriptors allows.
class ProcessStarvedTest < Support::TestCase
  include ProcessTree

  APPLICATION = <<~RUBY
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
        Process.setrlimit(:NOFILE, 64)
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
    eventually(20, "a response of another worker") { server.get("/", limit: 20).body != former.first.to_s }
    assert_match(/warn #{former.first} .* wants to be replaced: no connection can be accepted: Too many open files/,
                 server.output.text)
    wait_for_workers(server, 1, without: former)
  end
end
