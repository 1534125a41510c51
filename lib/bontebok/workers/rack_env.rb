# frozen_string_literal: true

require_relative "../version"

module Bontebok
  # The part of env that is the same for all requests of a process. Each key costs time in every request, so keys that
  # only the SPEC of Rack 2 requires are left out under Rack 3.
  module RackEnv
    SERVER_SOFTWARE = "Bontebok/#{VERSION}".freeze

    class << self
      def fixed(config)
        env = { "SERVER_SOFTWARE" => SERVER_SOFTWARE, "SCRIPT_NAME" => "", "rack.url_scheme" => "http",
                "rack.errors" => $stderr }
        rack2? ? env.merge(rack2(config)) : env
      end

      # Whether PATH_INFO may be "*". Before Rack 3.1, the SPEC forbids it.
      def asterisk?
        (Rack.release.split(".").map(&:to_i) <=> [3, 1]) >= 0
      end

      # The part of env that belongs to one lane: a thread serves one request at a time. The block returns the lane.
      def callables(config)
        hints = config[:early_hints] ? { "rack.early_hints" => ->(headers) { yield.early_hints(headers) } } : {}
        { "rack.hijack?" => true, "rack.hijack" => -> { yield.hijack }, "rack.response_finished" => [],
          "rack.after_reply" => [], **hints }
      end

      private

      # Rack 3 has no Rack::VERSION. In Rack 2, Rack::VERSION is the version of the SPEC, not of the gem.
      def rack2?
        Rack.release.to_i < 3
      end

      # If HTTP_VERSION is present, the C extension sets its value in each request.
      def rack2(config)
        { "HTTP_VERSION" => "HTTP/1.1", "rack.version" => Rack::VERSION, "rack.multithread" => config[:threads] > 1,
          "rack.multiprocess" => config.workers.positive?, "rack.run_once" => false }
      end
    end
  end
end
