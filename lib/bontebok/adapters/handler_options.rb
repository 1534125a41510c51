# frozen_string_literal: true

require_relative "../config/config"
require_relative "../system/file_name"

module Bontebok
  # What the handler of rackup and rails server is called with, made a Config; RackupOptions and RailsOptions know what
  # those two mean by it. Of a value that is nil the default holds.
  class HandlerOptions
    # What has happened when the handler is called.
    PAST = { preload: "the application is loaded already, once for all workers",
             rackup: "the application is loaded already, from the file that the command line names",
             directory: "the application is loaded already: start the server there",
             environment: "the application is loaded already, with what the command line says" }.freeze
    DEFAULT_PORT = 9292

    def initialize(options, env: ENV)
      @options = options.compact
      @env = env
    end

    # Raises UsageError, or StartError for a file that is missing.
    def config
      make_config.tap do |config|
        refuse(:preload, config.source(:preload)) unless preloaded?(config)
        refuse(:rackup, config.source(:rackup)) unless loaded?(config)
      end
    end

    private

    # False makes a difference for workers, and is asked for only where somebody has written it.
    def preloaded?(config)
      config[:preload] || config.workers.zero? || config.source(:preload) == "default"
    end

    # A file that is shared with the command may name the rackup file as well.
    def loaded?(config)
      return true if config.source(:rackup) == "default"

      FileName.absolute(config[:rackup]) == FileName.absolute(@options.fetch(:config, config[:rackup]))
    end

    # Not one wish among others, but what the application was loaded with.
    def environment
      @options.key?(:environment) ? { environment: [@options[:environment].to_s] } : {}
    end

    # Host and Port as an address; nil when there are none.
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
