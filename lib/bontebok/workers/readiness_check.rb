# frozen_string_literal: true

require_relative "../sockets/private_listener"
require_relative "rack_env"

module Bontebok
  # The requests that a worker sends to itself before it serves: the warm_up paths, then the first of health_paths. They
  # pass through a lane, as the requests of clients do, so they fail if clients would get an error. The worker must be
  # ready within worker_boot_timeout, so the requests have no limit of their own.
  class ReadinessCheck
    # Raised if a response is not as expected. The message has the response.
    class Failed < StandardError; end

    HEALTHY = 200..299
    # A path for warming up may respond with any status but an error of the server.
    WARM = 200..499
    # Characters of a response that the message shows.
    SHOWN = 2000

    def initialize(config, release, log:)
      @config = config
      @release = release
      @log = log
    end

    # True if the configuration names a path.
    def wanted?
      @config[:warm_up].any? || @config[:health_paths].any?
    end

    # Raises Failed.
    def run
      with_lane do |listener|
        @config[:warm_up].each { |path| ask(listener, path, WARM) }
        @config[:health_paths].first(1).each { |path| ask(listener, path, HEALTHY) }
      end
    end

    private

    def ask(listener, path, expected)
      response = listener.ask(request(path)).force_encoding(Encoding::UTF_8).scrub.delete("\r")
      status = response[%r{\AHTTP/1\.1 (\d+)}, 1].to_i
      return if expected.cover?(status)

      raise Failed, "the worker is not ready: #{path} responds\n#{response.empty? ? 'nothing' : response[0, SHOWN]}"
    end

    def request(path)
      fields = ["Connection: close", "User-Agent: #{RackEnv::SERVER_SOFTWARE}", *@config[:health_headers]]
      fields << "Host: localhost" unless fields.any?(/\AHost:/i)
      ["GET #{path} HTTP/1.1", *fields, "", ""].join("\r\n")
    end

    # Yields a listener whose connections a lane of its own serves.
    def with_lane
      listener = PrivateListener.new
      core = Core::Worker.new(@config.core_settings.merge(access_log: ""))
      core.public(@release.public) if @release.public
      core.listen(listener.descriptor, "localhost", 80)
      lane = lane_of(core)
      thread = Thread.new { lane.serve }
      yield listener
    ensure
      core&.drain
      thread&.join
      [lane, core, listener].compact.each(&:close)
    end

    def lane_of(core)
      lane = nil
      env = RackEnv.of_lane(@config) { lane }
      lane = Core::Lane.new(core, @release.app,
                            env: env, frozen_env: @config[:frozen_env], asterisk: RackEnv.asterisk?,
                            show_errors: true, max_requests: 0, report: method(:report), on_error: nil)
    end

    def report(level, message, exception)
      @log.write(level, message, exception) if Log::LEVELS.include?(level)
    end
  end
end
