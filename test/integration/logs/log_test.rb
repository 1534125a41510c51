# frozen_string_literal: true

require "json"
require "test_helper"
require "bontebok/version"
require_relative "../support/process_tree"

# The server's own log, in both formats: lines about processes, lines about faults, and lines with bytes that clients
# have sent.
class ServerLogTest < Support::TestCase
  include ProcessTree

  APP = <<~'RUBY'
    run(lambda do |env|
      case env["PATH_INFO"]
      when "/field" then [200, { env["HTTP_X_NAME"].unpack1("m") => "x" }, []]
      when "/value" then raise ArgumentError, "not #{env['HTTP_X_VALUE']}"
      else raise "boom"
      end
    end)
  RUBY

  def test_each_line_has_level_process_worker_and_generation
    server = start_bontebok(args: %w[-w 2 -E production], rackup: APP)
    server.wait_for_output(/^#{TIME} info #{server.pid} - - ready in \d+ ms$/)
    assert_match(/\A#{TIME} info #{server.pid} - - bontebok #{Bontebok::VERSION}, ruby /, server.output.text)
    server.get("/")
    pid, number = server.wait_for_output(%r{^#{TIME} error (\d+) w([12]) g1 GET /: boom \(RuntimeError\)$}).captures
    assert_match(/\Abontebok worker #{number}\b/, File.read("/proc/#{pid}/cmdline"))
    server.stop
    assert_empty server.output.lines.grep_v(/\A(?:#{TIME} (?:info|warn|error) \d+ \S+ \S+ |  )/)
  end

  def test_a_new_master_is_a_new_generation
    server = start_bontebok(args: %w[-w 1], rackup: APP)
    server.wait_for_output(/ ready in/)
    Process.kill("KILL", master(server).pid)
    eventually { server.get("/") && server.output.text.match?(/ w1 g2 GET /) }
    assert_match(/ w1 g2 GET /, server.output.text)
  end

  def test_a_worker_and_its_master_log_the_workers_life
    server = start_bontebok(args: %w[-w 1 -E production], rackup: APP)
    server.wait_for_output(/ ready in/)
    pid = workers(server).first
    3.times { server.get("/") }
    server.stop
    said = server.output.lines.filter_map { |line| line[/\A\S+Z info #{pid} w1 g1 (.*)/, 1] }
    life = /\Astarted \d+ ms ago\nready after \d+ ms\nends after \d+\.\d s, 3 requests, memory \d+ MB, PSS \d+ MB\z/
    assert_match(life, said.join("\n"))
    server.wait_for_output(/ info \d+ - g1 worker \(pid #{pid}\) has left: exit status 0$/)
  end

  def test_each_json_line_has_all_keys_and_an_exception_has_its_backtrace
    [["-w", "1"], ["-w", "0"]].each do |workers|
      server = start_bontebok(args: [*workers, "-E", "production", "--log-format", "json"], rackup: APP)
      server.wait_for_output(/"message":"ready in \d+ ms"}$/)
      ask("/\xe4\"\\".b)
      server.stop
      entries = server.output.lines.map { |line| JSON.parse(line) }
      assert(entries.all? { |entry| entry.keys.first(6) == %w[time level pid worker generation message] })
      fault = entries.find { |entry| entry["exception"] }
      assert_equal ['GET /\xe4"\\', "RuntimeError", "boom"], [fault["message"], *fault["exception"].values.first(2)]
      assert_match(/config\.ru:5:in /, fault["exception"]["backtrace"].first)
    end
  end

  def test_a_client_cannot_forge_log_lines_or_send_control_bytes_to_a_terminal
    server = start_bontebok(args: %w[-w 1 -E production], rackup: APP, lint: false)
    forged = "2026-01-01T00:00:00.000Z info 1 - - forged"
    server.get("/\xe2\x80\xa8\x9b".b)
    server.wait_for_output(%r{ GET /\\xe2\\x80\\xa8\\x9b: boom})
    server.get("/field", { "X-Name" => ["x\n#{forged}\e[2J"].pack("m0") })
    server.wait_for_output(/the field "x\\n#{forged}\\e\[2J" has an invalid name/)
    server.get("/value", { "X-Value" => "\xc2\x9b2J\t\x80".b })
    server.wait_for_output(/: not \\xc2\\x9b2J\\x09\\x80 \(ArgumentError\)/)
    server.stop
    assert_empty server.output.text.scan(/^#{forged}/)
    assert_match(/\A[\n -~]+\z/, server.output.text.b)
  end

  def test_the_level_error_logs_only_errors
    server = start_bontebok(ready: false, args: %w[-w 1 -E production --log-level error], rackup: APP,
                            lint: false)
    eventually { Support::Client.accepted?(socket) }
    ask("/")
    assert_equal 0, server.stop.exitstatus
    assert_match(%r{\A#{TIME} error \d+ w1 g1 GET /: boom \(RuntimeError\)\n  \S+config\.ru:5:in .*\n\z},
                 server.output.text)
  end

  private

  TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/
  private_constant :TIME

  def ask(target)
    Support::Client.open(socket) do |client|
      client.get(target)
    end
  end

  def socket = "unix:#{temp_dir}/bontebok.sock"
end
