# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/failing"

# The application may raise any exception at any step. If the response is incomplete, the client gets a 500 or an
# aborted connection. The failure is reported, the body is closed once, and the lane serves the next request.
class ErrorTest < Support::LaneCase
  Failing = Support::Failing

  # An exception that no code rescues by accident.
  class NotStandard < Exception # rubocop:disable Lint/InheritException
  end

  SURVIVED = { StandardError => -> { raise "boom" }, ScriptError => -> { raise NotImplementedError, "boom" },
               SystemStackError => -> { SURVIVED.fetch(SystemStackError).call.to_s },
               UncaughtThrowError => -> { throw :boom }, NotStandard => -> { raise NotStandard, "boom" } }.freeze

  Failing::STEPS.each do |step|
    define_method(:"test_a_failure_at_#{step}_is_survived") do
      SURVIVED.each { |kind, failure| assert_survives(step, kind, failure) }
    end

    next if VALGRIND

    define_method(:"test_a_failure_at_#{step}_is_survived_under_gc_stress") do
      assert_survives(step, StandardError, -> { raise "boom" }, stress: true)
    end
  end

  def test_the_log_names_the_request_without_its_query
    server = serve { raise ArgumentError, "because" }
    server.request("PATCH", "/a%20b?token=secret")
    report = server.next_report

    assert_equal [:error, "PATCH /a%20b", "because"], [report.level, report.message, report.error.message]
    assert_includes report.error.backtrace.first, __FILE__
  end

  def test_the_client_learns_nothing_of_the_exception
    response = failing_response(RuntimeError.new("secret"))

    assert_equal ["500 Internal Server Error\n", "text/plain; charset=utf-8"], [response.body, response["content-type"]]
    assert_predicate response, :keep_alive?
  end

  def test_show_errors_sends_the_message_and_the_backtrace
    response = failing_response(RuntimeError.new("shown \u00e4 \xff"), show_errors: true)

    assert_includes response.body, "shown \u00e4 \xff (RuntimeError)".b
    assert_includes response.body, __FILE__
    refute_includes response.body, "\e["
  end

  def test_show_errors_sends_the_whole_text_even_if_the_lane_must_wait
    error = RuntimeError.new("x" * 3_000_000)
    response = failing_response(error, show_errors: true, settings: { response_buffer: 1000, spool_max: 1 })

    assert_operator response.body.bytesize, :>, 3_000_000
  end

  def test_an_error_without_a_usable_message_gets_a_plain_response
    errors = [Class.new(StandardError) { define_method(:message) { raise "no" } }.new,
              Class.new(StandardError) { define_method(:message) { nil } }.new,
              Class.new(StandardError) { define_method(:full_message) { |**| raise "no" } }.new,
              RuntimeError.new("\xff\xfe"), RuntimeError.new("\u00e4".encode("UTF-16LE"))]
    errors.product([false, true]) do |error, show_errors|
      assert_equal 500, failing_response(error, show_errors: show_errors) { |report|
        assert_same error, report.error
      }.status
    end
  end

  def test_an_exception_of_the_report_callable_is_ignored
    server = serve(report: ->(*) { raise NotStandard, "no" }) { raise "boom" }

    2.times { assert_equal 500, server.get.status }
  end

  def test_an_exception_that_the_application_rescues_is_no_failure
    body = Failing::Body.new(lambda { |out|
      begin
        raise "inside"
      rescue RuntimeError
        out.call("rescued")
      end
    })

    server = serve { [200, {}, body] }

    assert_equal "rescued", server.get.body
    server.await_requests(1)
    assert_equal 1, body.closed
  end

  private

  def failing_response(error, **options)
    server = serve(**options) { raise error }
    response = server.get
    report = server.next_report
    yield report if block_given?
    response
  end

  # stress: true sets GC.stress when the application is called.
  def assert_survives(step, kind, failure, stress: false)
    apps = []
    server = serve do |env|
      next OK unless env["PATH_INFO"] == "/"

      apps << Failing.new(step, &failure)
      GC.stress = stress ? STRESS : false
      apps.last.call(env)
    end
    server.connect { |client| assert_response_at(step, client) }
    report = server.next_report
    GC.stress = false

    assert_equal [:error, true], [report.level, report.error.is_a?(kind)], "#{step}: #{report}"
    assert_equal "GET /", report.message
    assert_equal "ok", server.get("/ok").body # there is one lane, so the first request has ended
    assert_equal(%i[call triplet].include?(step) ? 0 : 1, apps.first.body.closed, "closed")
  ensure
    GC.stress = false
  end

  def assert_response_at(step, client)
    client.request("GET", "/")
    case step
    when :close then assert_equal [200, "whole"], client.read_response.to_h.values_at(:status, :body)
    when *Failing::STEPS_AFTER then assert_aborted(client)
    else assert_equal 500, client.read_response.status
    end
  end

  def assert_aborted(client)
    assert_raises(Support::Client::Closed) { client.read_response } # no last chunk
  end
end
