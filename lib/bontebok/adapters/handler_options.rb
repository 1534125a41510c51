# frozen_string_literal: true

require_relative "../config/config"
require_relative "../system/file_name"

module Bontebok
  # The superclass of RackupOptions and RailsOptions. It makes a Config from the options that the command rackup or
  # `rails server` passes to the Rack handler. An option with the value nil counts as not given.
  class HandlerOptions
    # Options that cannot be set any more when the handler is called: { key => reason for the message }.
    PAST = { preload: "the application is loaded already, once for all workers",
             rackup: "the application is loaded already, from the file that the command line names",
             directory: "the application is loaded already: start the server there",
             environment: "the application is loaded already, with what the command line says" }.freeze

    def initialize(options, env: ENV)
      @options = options.compact
      @env = env
    end

    # Raises UsageError, or StartError if a file is missing.
    def config
      make_config.tap do |config|
        refuse(:preload, config.source(:preload)) unless preloaded?(config)
        refuse(:rackup, config.source(:rackup)) unless loaded?(config)
      end
    end

    private

    # False if Preload was set to false and there are workers, because workers cannot load an application that is loaded
    # already.
    def preloaded?(config)
      config[:preload] || config.workers.zero? || !config.chosen?(:preload)
    end

    # True if Rackup is not set, or names the file that rackup has loaded. A configuration file can set Rackup, because
    # the command bontebok may use the same file.
    def loaded?(config)
      return true unless config.chosen?(:rackup)

      FileName.absolute(config[:rackup]) == FileName.absolute(@options.fetch(:config, config[:rackup]))
    end

    # Returns { environment: [value] } or {}. The value wins over the configuration file, because the application was
    # loaded in this environment.
    def environment
      @options.key?(:environment) ? { environment: [@options[:environment].to_s] } : {}
    end

    # Host and Port as the text of an address; nil if neither is given.
    def host_and_port
      return unless @options.key?(:Host) || @options.key?(:Port)

      host, port = @options.values_at(:Host, :Port)
      port ||= Defaults::PORT
      host ? Address.text(host, port) : port.to_s
    end

    def refuse(key, place)
      raise UsageError, "#{place}: #{OptionTable[key].name_at(place)}: #{PAST.fetch(key)}"
    end
  end
end
