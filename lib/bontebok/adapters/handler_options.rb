# frozen_string_literal: true

require_relative "../config/config"
require_relative "../system/file_name"

module Bontebok
  # Makes a Config of the options with which rackup or rails server calls the handler. RackupOptions and RailsOptions
  # know what their options mean. An option that is nil has its default.
  class HandlerOptions
    # Options that come too late when the handler is called, and why.
    PAST = { preload: "the application is loaded already, once for all workers",
             rackup: "the application is loaded already, from the file that the command line names",
             directory: "the application is loaded already: start the server there",
             environment: "the application is loaded already, with what the command line says" }.freeze
    DEFAULT_PORT = 9292

    def initialize(options, env: ENV)
      @options = options.compact
      @env = env
    end

    # Raises UsageError; StartError if a file is missing.
    def config
      make_config.tap do |config|
        refuse(:preload, config.source(:preload)) unless preloaded?(config)
        refuse(:rackup, config.source(:rackup)) unless loaded?(config)
      end
    end

    private

    # Whether Preload fits an application that is loaded already. Preload does not fit if it is set to false and there
    # are workers.
    def preloaded?(config)
      config[:preload] || config.workers.zero? || config.source(:preload) == "default"
    end

    # Whether Rackup fits the application that is loaded already. A configuration file may name the same file, because
    # the command bontebok uses it, too.
    def loaded?(config)
      return true if config.source(:rackup) == "default"

      FileName.absolute(config[:rackup]) == FileName.absolute(@options.fetch(:config, config[:rackup]))
    end

    # The environment is no default: the application was loaded with it.
    def environment
      @options.key?(:environment) ? { environment: [@options[:environment].to_s] } : {}
    end

    # Host and Port as an address; nil: neither is given.
    def host_and_port
      return unless @options.key?(:Host) || @options.key?(:Port)

      host, port = @options.values_at(:Host, :Port)
      port ||= DEFAULT_PORT
      host ? Address.text(host, port) : port.to_s
    end

    def refuse(key, place)
      raise UsageError, "#{place}: #{OptionTable[key].name}: #{PAST.fetch(key)}"
    end
  end
end
