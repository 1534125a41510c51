# frozen_string_literal: true

require "etc"

require_relative "config_file"

module Bontebok
  # The effective value of every option and where it comes from. Of several sources the first that has a value wins:
  # command line, configuration file, environment, default.
  class Config
    Setting = Struct.new(:value, :source)

    TIMEOUTS = %i[header_timeout body_timeout write_timeout].freeze

    # written: { key => [strings] } of the command line. Raises UsageError, or StartError for a file that is missing.
    def initialize(written = {}, env: ENV)
      @written = written
      @env = env
      @settings = {}
      @file = {}
      @file = read_file if self[:config_file]
      check_request_limits
      OptionTable::ALL.each { |option| setting(option) }
      freeze
    end

    # The effective value: times in milliseconds, sizes in bytes.
    def [](key)
      setting(OptionTable[key]).value
    end

    def source(key)
      setting(OptionTable[key]).source
    end

    # A time as the fraction of seconds that Ruby's methods want.
    def seconds(key)
      self[key].fdiv(1000)
    end

    # Worker processes, `auto` resolved. 0: one process without forks.
    def workers
      self[:max_workers] == :auto ? Etc.nprocessors : self[:max_workers]
    end

    def development?
      self[:environment] == "development"
    end

    # What Core::Worker is to be told.
    def core_settings
      settings = OptionTable.core.to_h { |option| [option.key, self[option.key]] }
      settings.merge(spool_dir: self[:spool_dir], server_name: self[:server],
                     access_log: self[:access_log], access_log_format: self[:access_log_format])
    end

    # One worker's own number of requests, 0: no limit. Different for each, so that they do not all go at once.
    def request_limit
      least = self[:min_request_per_child]
      least.zero? ? self[:max_request_per_child] : rand(least..self[:max_request_per_child])
    end

    # [[name, value as text, source], ...] in the table's order.
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

    # What the application will find in RACK_ENV, the file finds there already, unless it says so itself.
    def read_file
      environment = on_command_line(OptionTable[:environment])
      @env["RACK_ENV"] = environment.value if environment
      ConfigFile.new(self[:config_file]).entries
    end

    def setting(option)
      @settings[option.key] ||= on_command_line(option) || in_file(option) || in_environment(option) || default(option)
    end

    def on_command_line(option)
      values = @written[option.key] or return
      value = option.read(option.repeated? ? values : values.last, "command line")
      Setting.new(value, "command line")
    end

    def in_file(option)
      entry = @file[option.key] or return
      Setting.new(option.read(entry.value, entry.place), entry.place)
    end

    # A variable that is blank counts as not set.
    def in_environment(option)
      name = option.environment_variable or return
      text = @env[name].to_s.strip
      Setting.new(option.read(text, "environment #{name}"), "environment #{name}") unless text.empty?
    end

    def default(option)
      if option.key == :listen
        host = development? ? "127.0.0.1" : "0.0.0.0"
        Setting.new([Address.new(host: host, port: 9292)], "default")
      elsif TIMEOUTS.include?(option.key) && self[:timeout]
        Setting.new(self[:timeout], "Timeout, #{source(:timeout)}")
      else
        Setting.new(option.default, "default")
      end
    end

    def check_request_limits
      least, most = %i[min_request_per_child max_request_per_child].map { |key| self[key] }
      return if least <= most

      raise UsageError, "MinRequestPerChild (#{least}) must not be above MaxRequestPerChild (#{most})"
    end
  end
end
