# frozen_string_literal: true

require "json"
require "test_helper"
require "time"
require_relative "../integration/support/process_tree"

# Tests request_timeout, the limit for the time that the application takes for a request.
class RequestTimeoutTest < Support::TestCase
  include Support::OnceMore
  include ProcessTree

  # The exception has the name of the one that RequestTimeoutSoft raises.
  CLASS = /\(Bontebok::RequestTimeout\)$/

  APPLICATION = <<~RUBY
    def stay_here = File.read("gate")

    class Body < Struct.new(:parts)
      def each(&) = parts.each(&)
      def close = File.read("gate")
    end

    run(lambda do |env|
      case env["PATH_INFO"]
      when "/stuck" then stay_here
      when "/half"
        return [200, {}, Enumerator.new { |body| body << "half" && stay_here }]
      when "/upload" then env["rack.input"].read
      when "/upload/stuck" then env["rack.input"].read(2) && stay_here
      when "/closing" then return [200, {}, Body.new(["whole"])]
      when "/deaf" then Process.clock_gettime(Process::CLOCK_MONOTONIC) until File.exist?("never")
      end
      [200, {}, [Process.pid.to_s]]
    end)
  RUBY

  def start(*args)
    make_gate
    start_bontebok(args: ["--request-timeout", "300ms", *args], rackup: APPLICATION)
  end

  def test_the_client_gets_a_response_and_the_worker_is_replaced
    server = start("-w", "1", "--graceful-timeout", "1s")
    former = wait_for_workers(server, 1)
    assert_equal 504, server.get("/stuck").status
    server.wait_for_output(/the application has not answered within request_timeout \(504\)/)
    server.wait_for_output(/stay_here/)
    server.wait_for_output(/worker \(pid #{former.first}\) hangs in all its threads: it ends within 1 s/)
    wait_for_workers(server, 1, without: former)
    server.wait_for_output(/worker \(pid #{former.first}\) has only requests that hang: killed/)
    assert_ended server, "timeout", former.first, "request_timeout: has only requests that hang"
    assert_equal 1, TotalsReader.new(server.pid).look["slow requests"]
    assert_equal 200, server.get.status
  end

  # The client is slow, and the application is not.
  def test_the_time_in_which_a_request_waits_for_its_body_does_not_count
    server = start("-w", "1", "--unbuffered-bodies", "/upload")
    server.connect do |client|
      client.write("POST /upload HTTP/1.1\r\nHost: test\r\nContent-Length: 6\r\n\r\n")
      3.times do
        assert client.quiet?(0.2)
        client.write("ab")
      end

      assert_equal 200, client.read_response.status
    end
  end

  def test_the_limit_holds_after_a_request_has_waited_for_its_body
    server = start("-w", "1", "--unbuffered-bodies", "/upload/")
    server.connect do |client|
      client.write("POST /upload/stuck HTTP/1.1\r\nHost: test\r\nContent-Length: 6\r\n\r\n")
      assert client.quiet?(0.2)
      client.write("ab")

      assert_equal 504, client.read_response.status
    end
    open_gate
  end

  def test_the_log_names_the_request_and_its_thread
    server = start("-w", "1", "-t", "2")
    pid = wait_for_workers(server, 1).first
    names = eventually do
      own = Support::ProcessTable.thread_names(pid).grep(/\Abontebok (\d|io)/)
      own if own.size > 2
    end
    assert_equal ["bontebok 1", "bontebok 2", "bontebok io"], names.sort
    asked = Time.now
    assert_equal 504, server.request("POST", "/stuck", {}, "body").status
    hung = /POST .stuck, which began at (\S+), is here: thread (bontebok \d) #{CLASS}/
    began, name = server.wait_for_output(hung).captures
    assert_in_delta asked, Time.iso8601(began), 0.25
    assert_includes names, name
    server.wait_for_output(/request_timeout: another thread is here: thread bontebok \d #{CLASS}/)
    open_gate
  end

  # The queue time does not include the time that the request spends in the application.
  def test_the_access_log_tells_how_long_the_request_took
    log = File.join(temp_dir, "access.log")
    server = start("-w", "1", "--graceful-timeout", "500ms", "--access-log", log, "--access-log-format", "json")
    asked = Time.now
    server.get("/stuck", { "X-Request-Start" => "t=#{asked.to_f - 100}" })
    answered = Time.now
    line = JSON.parse(eventually { File.exist?(log) && File.readlines(log).first })
    assert_equal [504, "/stuck", "request_timeout"], line.values_at("status", "path", "reason")
    assert_includes 299_000..((answered - asked) * 1_000_000), line["duration_us"]
    assert_operator line["queue_us"], :<=, line["duration_us"] - 299_000
    assert_includes 100_000_000..200_000_000, line["proxy_queue_us"]
    assert_operator Time.iso8601(line["time"]), :<=, answered - 0.299
  end

  def test_a_response_that_has_begun_is_aborted
    server = start("-w", "2", "--graceful-timeout", "500ms")
    wait_for_workers(server, 2)
    server.connect do |client|
      client.request("GET", "/half")
      assert_raises(Support::Client::Closed) { client.read_response }
    end
    server.wait_for_output(/has not finished its response/)
  end

  def test_a_response_that_is_complete_is_not_aborted
    server = start("-w", "2", "--graceful-timeout", "500ms")
    wait_for_workers(server, 2)
    server.connect do |client|
      client.request("GET", "/closing")
      assert_equal "whole", client.read_response.body
      server.wait_for_output(/has answered, but is still busy/)
    end
  end

  def test_a_worker_is_not_replaced_if_its_requests_end_in_time
    server = start("-w", "1")
    former = wait_for_workers(server, 1)
    100.times { assert_equal 200, server.get.status }
    assert_equal former, workers(server)
  end

  def test_other_threads_of_the_worker_serve_until_it_is_replaced
    server = start("-w", "1", "-t", "3")
    former = wait_for_workers(server, 1)
    assert_equal 504, server.get("/stuck").status
    wait_for_workers(server, 2)
    50.times { assert_equal 200, server.get.status }
    open_gate
    wait_for_workers(server, 1, without: former)
  end

  def test_the_timeout_applies_in_a_single_process
    server = start("-w", "0", "-t", "2")
    assert_equal 504, server.get("/stuck").status
    server.wait_for_output(/stay_here/)
    assert_equal 200, server.get.status
    open_gate
  end
end
