# frozen_string_literal: true

require_relative "../support/embedded_case"

# Nothing that the application of a Server does ends the process or the server.
class ServerFailuresTest < EmbeddedCase
  DEADLY = { SystemExit => -> { exit }, Interrupt => -> { raise Interrupt },
             SignalException => -> { raise SignalException, "TERM" },
             NoMemoryError => -> { raise NoMemoryError, "no room" } }.freeze

  def test_an_exception_that_ends_a_process_is_logged
    DEADLY.each do |kind, failure|
      log.clear
      server = serve { |env| env["PATH_INFO"] == "/fail" ? failure.call : OK }
      assert_equal [500, 200], [get(server, "/fail").status, get(server).status]
      assert_equal ["GET /fail"], messages(:error)
      assert_equal ["the application asks this process to end: #{kind}; the process continues"], messages(:warn)
      assert_predicate server, :running?
    end
  end

  def test_a_killed_thread_gets_a_successor
    server = serve { |env| env["PATH_INFO"] == "/kill" ? Thread.current.kill : OK }
    connect(server) do |client|
      client.request("GET", "/kill")
      client.wait_for_end
    end
    assert_equal 200, get(server).status
    eventually { messages(:error) == ["a serving thread was killed: a new thread takes its place"] }
  end

  def test_an_exception_of_the_log_is_ignored
    server = serve(log: ->(*) { raise "the log fails" }) { |env| env["PATH_INFO"] == "/fail" ? raise("fails") : OK }
    assert_equal [500, 200], [get(server, "/fail").status, get(server).status]
    assert server.stop
  end
end
