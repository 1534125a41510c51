# frozen_string_literal: true

require_relative "../support/lane_case"

# The access log in the Ruby binding: its settings, errors in the settings, and the call that opens the log again. The
# core's tests check the content of the lines.
class AccessLogTest < Support::LaneCase
  Worker = Bontebok::Core::Worker

  def test_requests_are_logged
    server = serve(settings: { access_log: log, access_log_format: "%m %U %>s %b %{x-b}o" }) do |env|
      raise "broken" if env["PATH_INFO"] == "/broken"

      [200, { "x-b" => "c" }, env["REQUEST_METHOD"] == "HEAD" ? [] : ["ok"]]
    end
    server.get("/a")
    server.raw("HEAD /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    server.get("/broken")
    server.reports
    server.stop

    assert_equal ["GET /a 200 2 c", "HEAD /b 200 - c"], lines.first(2)
    assert_match(%r{\AGET /broken 500 \d+ -\z}, lines.last)
  end

  def test_a_renamed_file_is_opened_again
    server = serve(settings: { access_log: log, access_log_format: "%U" }) { OK }
    server.get("/first")
    eventually { lines.any? }
    File.rename(log, "#{log}.1")
    server.worker.reopen_logs
    server.get("/second")
    server.stop

    assert_equal(["/first\n", "/second\n"], ["#{log}.1", log].map { |path| File.read(path) })
  end

  def test_a_file_that_cannot_be_opened_again_raises
    worker = Worker.new({ access_log: log })
    File.delete(log)
    Dir.mkdir(log)

    assert_raises(Errno::EISDIR) { worker.reopen_logs }
    assert_nil Worker.new.reopen_logs
  end

  def test_wrong_settings_raise_with_a_message
    assert_nil Worker.check_access_log({})
    assert_nil Worker.check_access_log({ access_log: log })
    { { access_log_format: "%h %Z" } => "format: unknown directive %Z",
      { access_log: "syslog:severity=x" } => 'syslog: unknown severity "x"' }.each do |wrong, message|
      settings = { access_log: log }.merge(wrong)
      assert_equal(message, assert_raises(ArgumentError) { Worker.check_access_log(settings) }.message)
      assert_equal(message, assert_raises(ArgumentError) { Worker.new(settings) }.message)
    end
    missing = { access_log: File.join(temp_dir, "none/log") }
    assert_raises(Errno::ENOENT) { Worker.check_access_log(missing) }
    assert_raises(ArgumentError) { Worker.new({ access_log_format: "x" * 1024 }) }
  end

  private

  def log
    File.join(temp_dir, "access.log")
  end

  def lines
    File.readlines(log, chomp: true)
  end
end
