# frozen_string_literal: true

require "bontebok"
require "test_helper"

# A test of Bontebok::Server in the test's own process. At the end of the test, all servers are stopped.
class EmbeddedCase < Support::TestCase
  OK = [200, {}.freeze, ["ok"].freeze].freeze

  # Starts a Server with the application of the block. Without log: or log_level:, every entry of its log is in #log.
  def serve(**options, &app)
    server(**options, &app).start
  end

  # Returns a Server that is not started yet.
  def server(**options, &app)
    Bontebok::Server.new(app || ->(_env) { OK }, log: method(:note), log_level: "info", **options)
                    .tap { |server| (@servers ||= []) << server }
  end

  # The entries of the servers' logs: [[level, message, exception]].
  def log
    @log ||= []
  end

  # The messages of the log with this level.
  def messages(level)
    log.select { |entry| entry.first == level }.map { |entry| entry[1] }
  end

  def before_teardown
    super
    stuck = @servers.to_a.reject { |server| server.stop(0) || server.join(Support::Deadline::DEFAULT_SECONDS) }
    flunk("#{stuck.size} servers do not stop") if stuck.any?
  end

  private

  def note(level, message, exception)
    log << [level, message, exception]
  end

  def connect(server, &block)
    Support::Client.open(server.addresses.first, &block)
  end

  def get(server, path = "/")
    connect(server) { |client| client.get(path) }
  end

  # Sends a request and yields the client when the application has the request. The application must push to `arrived`.
  def in_a_request(server, arrived, path = "/")
    connect(server) do |client|
      client.request("GET", path)
      arrived.pop
      yield client
    end
  end

  def assert_refused(address)
    refute Support::Client.accepted?(address), "#{address} accepts connections"
  end
end
