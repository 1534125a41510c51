# frozen_string_literal: true

require_relative "../test_helper"
require_relative "support/scripted_server"

require "json"

# The base of tests of the load tool, bontebok-bench. Each test scripts its own servers. The tool is built with
# sanitizers: a leak or an overrun fails the test that causes it.
class LoadTest < Support::TestCase
  BUILD = "build/program"
  PROGRAM = File.join(ROOT, "load", BUILD, "asan/bontebok-bench")

  def self.build
    @build ||= begin
      made = Support::ChildProcess.run("make", "-s", "-C", File.join(ROOT, "load"), "BUILD=#{BUILD}",
                                       "#{BUILD}/asan/bontebok-bench", limit: 300)
      raise made.output.text unless made.status.success?

      true
    end
  end

  def before_setup
    super
    LoadTest.build
  end

  def after_teardown
    servers.each(&:stop)
    super
  end

  # Starts a ScriptedServer on TCP or on a unix socket. The server is stopped at the end of the test.
  def serve(kind = :unix, **options, &block)
    address = kind == :unix ? [File.join(temp_dir, servers.size.to_s)] : []
    servers << ScriptedServer.public_send(kind, *address, **options, &block)
    servers.last
  end

  # Returns a URL where no server listens. Its port was free a moment ago.
  def refusing_url
    listener = TCPServer.new("127.0.0.1", 0)
    "http://127.0.0.1:#{listener.addr[1]}/"
  ensure
    listener&.close
  end

  # Runs the tool to its end and returns it as a Support::ChildProcess.
  def bench(*arguments, **options)
    Support::ChildProcess.run(PROGRAM, *arguments.map(&:to_s), **options)
  end

  # Runs the tool with --json, and asserts that its exit status and its sums are right. Returns the parsed output.
  def measure(*arguments, **options)
    process = bench("--json", *arguments, **options)
    assert_equal "", process.output.text(:stderr)
    result = JSON.parse(process.output.text(:stdout))
    failed = result["errors"].values.sum
    assert_equal result["requests"], result["ok"] + failed, result
    assert_equal failed.positive? ? 1 : 0, process.status.exitstatus, result
    result
  end

  # Returns the plan of a run: [[microseconds, path], ...].
  def plan(*options)
    process = bench("--dry-run", *options)
    assert_predicate process.status, :success?
    process.output.text(:stdout).lines(chomp: true).map do |line|
      time, path = line.split("\t")
      [Float(time), path]
    end
  end

  # expected: { error => count }. Asserts that the result has exactly these errors.
  def assert_errors(expected, result)
    assert_equal expected, result["errors"].reject { |_, count| count.zero? }.transform_keys(&:to_sym), result
  end

  private

  def servers
    @servers ||= []
  end
end
