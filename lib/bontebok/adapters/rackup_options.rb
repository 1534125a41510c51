# frozen_string_literal: true

require_relative "../config/other_servers/handler_names"
require_relative "handler_options"

module Bontebok
  # The options of `rackup -s bontebok`. The user sets them with -O. Their names are Host, Port, Path, the rackup_name
  # of each Option, and names of other servers (HandlerNames). A rackup command for Rhebok works unchanged, because
  # Rhebok's options have the same names, and almost all have the same defaults. The configuration file wins over these
  # options.
  class RackupOptions < HandlerOptions
    # 4096 is SOMAXCONN of Linux.
    DEFAULTS = { max_workers: 5, max_request_per_child: 1000, chunked_transfer: false, backlog: 4096,
                 **RhebokOptions::TIMEOUTS.to_h { |key| [key, RhebokOptions::TIMEOUT.default] } }.freeze
    # Rhebok's applications need not be thread-safe.
    FIXED = { threads: 1 }.freeze
    ADDRESS = { Host: "Name or address to listen on.", Port: "Port to listen on.",
                Path: "Unix socket to listen on, instead of Host and Port." }.freeze
    # Options that are hooks. Only a program that calls the handler can pass hooks.
    HOOKS = { BeforeFork: :before_fork, AfterFork: :after_fork }.freeze
    # Options for rackup itself. rackup passes them to the handler, too.
    RACKUPS = %i[app builder config daemonize debug environment heapfile include pid profile_file profile_mode quiet
                 require server warn].freeze
    ALL = [*OptionTable::ALL, RhebokOptions::TIMEOUT].freeze
    PLACE = Option::RACKUP

    # @options then has the options for rackup itself and the address, @given all others, by their names here.
    def initialize(options, env: ENV)
      super
      given, @advice = HandlerNames.read(@options.except(*RACKUPS), PLACE)
      %i[environment directory].each { |key| refuse(key, PLACE) if given.key?(key) }
      @given = given.except(*ADDRESS.keys)
      @options = @options.slice(*RACKUPS).merge(given.slice(*ADDRESS.keys))
    end

    # Returns the options for `rackup -s bontebok -h`: { "MaxWorkers=N|auto" => description }.
    def self.help
      options = ALL.reject { |option| PAST.key?(option.key) }.to_h do |option|
        default = DEFAULTS.key?(option.key) ? option.type.show(DEFAULTS.fetch(option.key)) : option.default_text
        ["#{option.rackup_name}=#{option.type.metavar || 'true'}", renamed("#{option.summary}. Default: #{default}.")]
      end
      ADDRESS.to_h { |name, text| ["#{name}=#{name.upcase}", text] }.merge(options)
    end

    # The options as arguments of Server.new, which knows the names of other servers. Also for Capybara's options.
    # Options that rackup passes to every handler have no effect.
    def self.for_server(options)
      { Port: Defaults::PORT, **options.compact.except(*RACKUPS - [:environment]) }
    end

    # Puts the names for -O into a text.
    def self.renamed(text)
      text.gsub(/\b[a-z]+(?:_[a-z]+)+\b/) { |word| ALL.find { |option| option.name == word }&.rackup_name || word }
    end
    private_class_method :renamed

    private

    def make_config
      ADDRESS.each_key { |name| check_value(@options[name], name, name.upcase) }
      listen = { listen: addresses }.compact
      Config.new(environment, given: written.merge(listen), defaults: DEFAULTS.merge(default_address), fixed: FIXED,
                              defaults_source: "Rhebok's default", notes: @advice + advice, env: @env)
            .tap { |config| add_hooks(config.hooks) }
    end

    # The hooks of the configuration file win.
    def add_hooks(hooks)
      @given.slice(*HOOKS.keys).each do |name, hook|
        raise UsageError, "#{PLACE}: #{name} is code: put it into the configuration file" unless hook.respond_to?(:call)

        hooks.add(HOOKS[name], hook) unless hooks.any?(HOOKS[name])
      end
    end

    # Returns { key => [value] }. An option of its own wins over puma's Silent and Verbose.
    def written
      all = switches
      @given.except(*HOOKS.keys, *HandlerNames::OWN).each do |key, value|
        option = ALL.find { |one| one.key == key } or raise UsageError, unknown(key)
        check_value(value, option.rackup_name, option.type.metavar) unless option.switch?
        all[key] = [value]
      end
      all.except(:listen)
    end

    def switches
      all = {}
      all[:log_level] = ["error"] if HandlerNames.on?(@given[:Silent])
      all.update(HandlerNames::VERBOSE.transform_values { |value| [value] }) if HandlerNames.on?(@given[:Verbose])
      all
    end

    # WEBrick's Logger is an object. Several processes write this log.
    def advice
      @given.key?(:Logger) ? ["#{PLACE}: Logger has no effect: Log names the file of the log"] : []
    end

    # rackup passes true for an option without a value.
    def check_value(value, name, metavar)
      raise UsageError, "#{PLACE}: #{name} wants a value: -O #{name}=#{metavar}" if value == true
    end

    # The addresses that the user has set, or nil.
    def addresses
      listen = @given[:listen]
      path = @options[:Path]
      raise UsageError, "#{PLACE}: Listen and Path are both addresses: put all into Listen" if listen && path
      return Array(listen).flat_map { |one| one.to_s.split(",") } if listen
      return [Address::Path.new(path.to_s)] if path

      [host_and_port] unless default_address?
    end

    # rackup does not tell whether the user has set Host and Port. The default port is an Integer; a port that the user
    # has set is a String.
    def default_address?
      host_and_port.nil? || @options.values_at(:Host, :Port) == [default_host, Defaults::PORT]
    end

    def default_host
      @options[:environment] == "development" ? "localhost" : "0.0.0.0"
    end

    def default_address
      default_address? && host_and_port ? { listen: [Address.parse(host_and_port)] } : {}
    end

    def unknown(name)
      near = HandlerNames.nearest(name, ALL.map(&:rackup_name) + ADDRESS.keys.map(&:to_s))
      "#{PLACE}: unknown option #{name}. #{near ? "Did you mean #{near}?" : 'See rackup -s bontebok -h.'}"
    end
  end
end
