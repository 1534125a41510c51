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

  # Each exception may end a thread, and others are still pending then.
  def test_exceptions_of_other_threads_do_not_reach_the_caller_of_stop
    5.times do
      before = descriptors
      server = serve(threads: 2)
      get(server)
      Thread.list.grep_v(Thread.current).each { |thread| 5.times { thread.raise("for a thread") } if ours?(thread) }
      assert_equal 200, get(server).status
      assert_equal true, server.stop
      assert_operator descriptors, :<=, before
    end
  end

  # A thread is killed at any point of its life, and the thread that handles the events as well.
  def test_kills_leave_a_server_that_serves
    server = serve(threads: 2)
    killer = Thread.new do
      200.times do
        Thread.list.each { |thread| thread.kill if ours?(thread) }
        Thread.pass
      end
    end
    killer.join
    2.times { assert_equal 200, get(server).status }
    assert_equal true, server.stop
    assert_operator messages(:error).size, :<=, 200
  end

  # The thread that handles the events has been created, and begins when the caller of #start cleans up.
  def test_an_exception_that_arrives_at_the_end_of_start_ends_the_run
    server = server()
    under_trace(Thread.current) { assert_raises(IndexError) { server.start } }
    refute_predicate server, :running?
    eventually { Thread.list.none? { |thread| ours?(thread) } }
    assert_equal [[], true], [messages(:error), server.stop]
    assert_equal 200, get(server.start).status
  end

  def test_an_exception_of_the_log_is_ignored
    server = serve(log: ->(*) { raise "the log fails" }) { |env| env["PATH_INFO"] == "/fail" ? raise("fails") : OK }
    assert_equal [500, 200], [get(server, "/fail").status, get(server).status]
    assert server.stop
  end

  private

  def under_trace(caller)
    cleans_up = Queue.new
    trace = TracePoint.new(:c_return, :call, :return) do |call|
      next unless call.path.end_with?("server_run.rb")

      case [call.event, call.method_id]
      when %i[c_return new] then caller.raise(IndexError, "late") if call.self == Thread
      when %i[call keep] then cleans_up.pop
      when %i[call stop], %i[return close] then cleans_up.push(true)
      end
    end
    trace.enable
    yield
  ensure
    trace.disable
  end

  def ours?(thread) = thread.name.to_s.start_with?("bontebok")

  def descriptors = Dir.children("/proc/self/fd").size
end
