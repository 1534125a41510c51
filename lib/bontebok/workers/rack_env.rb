# frozen_string_literal: true

require_relative "../version"

module Bontebok
  # The part of env that is the same for all requests of a process. Each key costs time in every request, so keys that
  # only the SPEC of an older Rack names are left out under a newer one.
  module RackEnv
    SERVER_SOFTWARE = "Bontebok/#{VERSION}".freeze
    # The key of a callable that gives the request more time: `call(seconds)` extends request_timeout and
    # request_timeout_soft. Only the thread that serves the request may call it.
    EXTENSION = "bontebok.extend_timeout"

    class << self
      def fixed(config)
        env = { "SERVER_SOFTWARE" => SERVER_SOFTWARE, "SCRIPT_NAME" => "", "rack.url_scheme" => "http",
                "rack.errors" => $stderr }
        env["HTTP_VERSION"] = "HTTP/1.1" if before?(3, 1) # The C extension sets the value of each request.
        before?(3) ? env.merge(rack2(config)) : env
      end

      # Whether PATH_INFO may be "*". Before Rack 3.1, the SPEC forbids it.
      def asterisk? = !before?(3, 1)

      # The env of one lane: a thread serves one request at a time. The block returns the lane.
      def of_lane(config)
        env = { **fixed(config), "rack.hijack?" => true, "rack.hijack" => -> { yield.hijack },
                                 "rack.response_finished" => [], "rack.after_reply" => [] }
        env["rack.early_hints"] = ->(headers) { yield.early_hints(headers) } if config[:early_hints]
        limited = config[:request_timeout].positive? || config[:request_timeout_soft].positive?
        env[EXTENSION] = ->(seconds) { yield.extend_timeout(seconds) } if limited
        env
      end

      private

      # Rack has no other sign of its SPEC's version: Rack::VERSION is the same in 2.2 and 3.0, and Rack 3.1 has none.
      def before?(*version) = (Rack.release.split(".").map(&:to_i) <=> version).negative?

      def rack2(config)
        { "rack.version" => Rack::VERSION, "rack.multithread" => config[:threads] > 1,
          "rack.multiprocess" => config.workers.positive?, "rack.run_once" => false }
      end
    end
  end
end
