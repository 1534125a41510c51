# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# If the application calls exec, the worker's channel to the master is closed, but the worker's process lives.
class ProcessDeafTest < Support::TestCase
  include ProcessTree

  APPLICATION = <<~RUBY
    run(lambda do |env|
      exec("sleep", "600") if env["PATH_INFO"] == "/exec"
      [200, {}, [Process.pid.to_s]]
    end)
  RUBY

  def test_a_worker_that_calls_exec_is_replaced_and_killed
    server = start_bontebok(args: ["-w", "1", "--graceful-timeout", "500ms"], rackup: APPLICATION)
    former = wait_for_workers(server, 1)
    server.connect do |client|
      client.request("GET", "/exec")
      assert_includes %i[eof reset], client.wait_for_end
    end
    server.wait_for_output(/worker \(pid #{former.first}\) has closed its channel: it is replaced/)
    wait_for_workers(server, 1, without: former)
    server.wait_for_output(/worker \(pid #{former.first}\) did not end within 0.5 s: killed/)
    assert_equal 200, server.get.status
  end
end
