# frozen_string_literal: true

require_relative "account"
require_relative "config_file"
require_relative "config_styles"
require_relative "cpus"
require_relative "defaults"
require_relative "rhebok_address"
require_relative "spreads"

module Bontebok
  # The effective value of every option, and the source of the value. The first of these sources that has a value wins:
  # command line, configuration file, options of the rackup command, environment, default.
  class Config
    include Defaults
    include Spreads

    Setting = Struct.new(:value, :source)

    # The sources of explicit choices. Values of other sources can be ignored. For example, a server that gets its
    # sockets from systemd or start_server ignores $PORT.
    CHOICES = %i[on_command_line in_file given].freeze
    SOURCES = [*CHOICES, :in_environment, :by_habit, :by_default].freeze
    # The default configuration file.
    FILE = "config/bontebok.rb"
    TIMEOUTS = %i[header_timeout body_timeout write_timeout].freeze

    # The Hooks of the configuration file, and texts for the log.
    attr_reader :hooks, :warnings

    # written    { key => [strings] } of the command line
    # given      { key => [strings] } of rackup -O; the configuration file wins over these values, as in Rhebok
    # defaults   { key => effective value }, instead of the table's defaults
    # Raises UsageError, or StartError if a file or directory is missing.
    def initialize(written = {}, given: {}, defaults: {}, env: ENV)
      @written = written
      @given = given
      @defaults = defaults
      @env = env
      @settings = {}
      @file = {}
      @hooks = Hooks.new
      @warnings = []
      enter_directory
      read_file if self[:config_file]
      check_spreads
      OptionTable::ALL.each { |option| setting(option) }
      check_request_limits
      workers
      account
      freeze
    end

    # The effective value. Times are milliseconds, sizes are bytes.
    def [](key)
      setting(OptionTable[key]).value
    end

    def source(key)
      setting(OptionTable[key]).source
    end

    # True if one of CHOICES has a value for this option.
    def chosen?(key)
      CHOICES.any? { |source| send(source, OptionTable[key]) }
    end

    # A time in seconds, as a Float.
    def seconds(key)
      self[key].fdiv(1000)
    end

    # The number of worker processes; `auto` is converted to a number. 0: one process that never forks.
    def workers
      @workers ||= self[:max_workers] == :auto ? Cpus.new.count : self[:max_workers]
    end

    # The user that the application runs as.
    def account
      @account ||= Account.new(self[:user], self[:group])
    rescue Account::Unknown => e
      raise UsageError, "#{source(e.option)}: #{e.message}"
    end

    def development?
      self[:environment] == "development"
    end

    # The settings of Core::Worker.
    def core_settings
      texts = %i[spool_dir trusted_proxies access_log access_log_format ready_path live_path]
      settings = (OptionTable.core.map(&:key) + texts).to_h { |key| [key, self[key]] }
      settings.merge(server_name: self[:server], x_sendfile: self[:x_sendfile].join("\n"),
                     health_paths: self[:health_paths].join(" "), unbuffered_bodies: self[:unbuffered_bodies].join(" "))
    end

    # [[name, value as text, source], ...] in the order of the table.
    def report
      OptionTable::ALL.map do |option|
        [option.name, shown(option), source(option.key)]
      end
    end

    private

    def shown(option)
      value = self[option.key]
      return "none" if value.nil?

      value == :auto ? "auto (#{workers})" : option.type.show(value)
    end

    # Enters the Directory of the command line. A relative name of the configuration file begins there.
    def enter_directory
      setting = on_command_line(OptionTable[:directory]) or return
      WorkingDirectory.enter(setting.value, setting.source)
      @directory = WorkingDirectory.name
    end

    # RACK_ENV is set before the file is read, because the file may use it.
    def read_file
      environment = on_command_line(OptionTable[:environment])
      @env["RACK_ENV"] = environment.value if environment
      style = ConfigStyles.for(self[:config_file], self[:config_style])
      file = ConfigFile.new(self[:config_file], style: style, ignore_unknown: self[:ignore_unknown])
      @file = file.entries
      @hooks = file.hooks
      @warnings = file.warnings
      @defaults = @defaults.merge(style::DEFAULTS)
      WorkingDirectory.enter(@directory, source(:directory)) if @directory # the file may have entered another directory
    end

    def setting(option)
      @settings[option.key] ||= SOURCES.lazy.filter_map { |source| send(source, option) }.first
    end

    def on_command_line(option)
      setting_of(option, @written[option.key], "command line")
    end

    def given(option)
      setting_of(option, @given[option.key], "rackup -O")
    end

    def setting_of(option, values, place)
      Setting.new(option.read(option.repeated? ? values : values.last, place), place) if values
    end

    def in_file(option)
      entry = @file[option.key] || (RhebokAddress.entry(@file) if option.key == :listen) or return
      Setting.new(option.read(entry.value, entry.place), entry.place)
    end

    # A blank variable counts as not set.
    def in_environment(option)
      name, text = option.environment_variables.lazy.map { |one| [one, text_of(one)] }.find { |_, one| !one.empty? }
      return unless name

      text = "#{default_host}:#{text}" if option.key == :listen
      Setting.new(option.read(text, "environment #{name}"), "environment #{name}")
    end

    # A variable may hold any bytes, like an argument of the command line.
    def text_of(variable)
      @env[variable].to_s.b.strip.force_encoding(Encoding::UTF_8)
    end

    # A default of the configuration file's style, of RackupOptions or of RailsOptions. It replaces the table's default.
    def by_habit(option)
      value = @defaults.fetch(option.key) { return }
      Setting.new(value.respond_to?(:call) ? value.call(self) : value, "default")
    end

    def by_default(option)
      return Setting.new(FILE, "found") if option.key == :config_file && File.file?(FILE)
      return Setting.new(default(option), "default") unless TIMEOUTS.include?(option.key) && self[:timeout]

      Setting.new(self[:timeout], "Timeout, #{source(:timeout)}")
    end

    def check_request_limits
      return if self[:request_timeout].zero? || self[:request_timeout_soft] < self[:request_timeout]

      @warnings += ["RequestTimeoutSoft is not below RequestTimeout: its exception comes after the response"]
    end
  end
end
