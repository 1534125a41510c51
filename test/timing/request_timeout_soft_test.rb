# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/process_tree"

# Tests request_timeout_soft. The server raises an exception in the thread of a request that takes too long. The
# application can ask for more time.
class RequestTimeoutSoftTest < Support::TestCase
  include Support::OnceMore
  include ProcessTree

  APPLICATION = <<~RUBY
    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    run(lambda do |env|
      case env["PATH_INFO"]
      when "/slow"
        $stderr.puts "in slow"
        begin
          File.read("gate")
        ensure
          $stderr.puts "ensured"
        end
      when "/stubborn"
        begin
          File.read("gate")
        rescue Exception
          retry
        end
      when "/extended"
        env["bontebok.extend_timeout"].call(60)
        done = now + 1.5
        sleep(0.01) until now > done
      end
      [200, {}, [env.key?("bontebok.extend_timeout").to_s]]
    end)
  RUBY

  def start(*args)
    make_gate
    start_bontebok(args: args, rackup: APPLICATION)
  end

  def test_the_request_ends_and_its_worker_serves_again
    server = start("-w", "1", "-t", "2", "--request-timeout-soft", "300ms")
    former = wait_for_workers(server, 1)
    assert_equal 504, server.get("/slow").status
    server.wait_for_output(/request_timeout_soft: GET .slow is here: \S.* \(Bontebok::RequestTimeout\)\n.*read/m)
    server.wait_for_output(/ensured/)
    assert_equal 1, TotalsReader.new(server.pid).look["slow requests"]
    assert_equal 200, server.get.status
    assert_equal former, workers(server)
  end

  def test_a_worker_whose_request_does_not_end_is_replaced
    server = start("-w", "1", "--request-timeout-soft", "200ms", "--request-timeout", "600ms",
                   "--graceful-timeout", "500ms")
    former = wait_for_workers(server, 1)
    assert_equal 504, server.get("/stubborn").status
    server.wait_for_output(/request_timeout_soft: GET .stubborn is here/)
    server.wait_for_output(/has not answered within request_timeout/)
    assert_equal 1, TotalsReader.new(server.pid).look["slow requests"], "not counted for each limit"
    wait_for_workers(server, 1, without: former)
  end

  # The client gets a response after request_timeout. Later the exception ends the request in the thread. The worker has
  # a second thread, so the worker still runs at this time.
  def test_a_soft_limit_above_the_hard_limit_ends_the_request_after_the_response
    server = start("-w", "1", "-t", "2", "--request-timeout-soft", "600ms", "--request-timeout", "200ms")
    server.wait_for_output(/request_timeout_soft is not below request_timeout: its exception/)
    former = wait_for_workers(server, 1)
    assert_equal 504, server.get("/slow").status
    server.wait_for_output(/request_timeout_soft: GET .slow is here/)
    server.wait_for_output(/ensured/)
    wait_for_workers(server, 1, without: former)
    refute_match(/killed/, server.output.text)
  end

  # The limit applies even if the master and the supervisor are dead.
  def test_the_soft_limit_applies_in_an_orphaned_worker
    server = start("-w", "1", "--request-timeout-soft", "1s", "--keepalive-drain", "10ms")
    wait_for_workers(server, 1)
    server.connect do |client|
      client.request("GET", "/slow")
      server.wait_for_output(/in slow/)
      [server.pid, master(server).pid].each { |pid| Process.kill("KILL", pid) }
      server.wait_for_output(/the master is gone/)
      assert_equal 504, client.read_response.status
    end
    server.wait_for_group
  end

  def test_more_time_moves_both_limits
    server = start("-w", "1", "--request-timeout-soft", "600ms", "--request-timeout", "1s")
    former = wait_for_workers(server, 1)
    response = server.get("/extended")
    assert_equal [200, "true"], [response.status, response.body]
    assert_equal former, workers(server)
    assert_equal 504, server.get("/slow").status
  end

  def test_more_time_moves_a_hard_limit_without_a_soft_limit
    server = start("-w", "1", "--request-timeout", "1s")
    assert_equal 200, server.get("/extended").status
  end

  def test_the_soft_limit_applies_in_a_single_process
    server = start("-w", "0", "--request-timeout-soft", "300ms")
    assert_equal 504, server.get("/slow").status
    server.wait_for_output(/request_timeout_soft: GET .slow is here/)
    assert_equal 200, server.get.status
  end

  # An application can use Bontebok::RequestTimeout where the core is not loaded: in a console, in tests, and while
  # rackup loads the application.
  def test_the_exception_is_defined_without_the_server
    known = 'require "bontebok"; one = Bontebok::RequestTimeout; require "bontebok/bontebok"; ' \
            "p one.superclass, one.equal?(Bontebok::RequestTimeout)"
    run = Support::ChildProcess.run(RbConfig.ruby, "-I", File.join(ROOT, "lib"), "-e", known)
    assert_equal "Exception\ntrue\n", run.output.text
  end

  def test_an_application_without_a_limit_cannot_extend_it
    server = start("-w", "1")
    assert_equal "false", server.get.body
  end
end
