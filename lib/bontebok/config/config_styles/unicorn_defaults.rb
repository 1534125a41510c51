# frozen_string_literal: true

require_relative "plain_logger"

module Bontebok
  module ConfigStyles
    # What a file for unicorn finds as Configurator::DEFAULTS and as HttpRequest::DEFAULTS. Files change the default
    # logger, and the defaults of env. Other accesses are errors.
    module UnicornDefaults
      # Configurator::DEFAULTS.
      class Settings
        def [](name)
          raise KeyError, "the default of #{name} is not available" unless name == :logger

          @logger ||= defined?(Logger) ? Logger.new($stderr) : PlainLogger.new
        end
      end

      # HttpRequest::DEFAULTS. configuration: the ConfigFile that is read.
      class Env
        ADVICE = { "rack.url_scheme" => "the proxy must send X-Forwarded-Proto" }.freeze
        OTHER = "a middleware can set it"

        attr_writer :configuration

        def []=(name, _value)
          @configuration.advise("HttpRequest::DEFAULTS[#{name.inspect}]", ADVICE.fetch(name, OTHER))
        end
      end
    end
  end
end
