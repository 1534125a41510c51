# frozen_string_literal: true

require_relative "account"
require_relative "boot_time"
require_relative "config_file"
require_relative "config_styles"
require_relative "defaults"
require_relative "file_environment"
require_relative "option_table"
require_relative "places"
require_relative "rhebok_address"
require_relative "sources"
require_relative "spool_dir"
require_relative "spreads"
require_relative "start_advice"
require_relative "worker_count"

module Bontebok
  # The effective value of every option, and the source of the value. The first of these sources that has a value wins:
  # command line, configuration file, options of the rackup command, environment, default.
  class Config
    include BootTime
    include Defaults
    include FileEnvironment
    include Places
    include Sources
    include SpoolDir
    include Spreads
    include StartAdvice
    include WorkerCount

    # The source of the default in place of a wrong value.
    WRONG = "default, because the value is wrong"
    private_constant :WRONG

    # A fault of the configuration. status: the exit status of a start with this fault.
    Fault = Struct.new(:message, :status)

    # The Hooks of the configuration file, and texts for the log.
    attr_reader :hooks, :warnings

    # written    { key => [strings] } of the command line
    # given      { key => [strings] } of rackup -O; the configuration file wins over these values, as in Rhebok
    # defaults   { key => effective value }, instead of the table's defaults
    # fixed      like defaults; these values also win over the environment
    # defaults_source  the source of these values, for --check
    # notes      texts for the log
    # faults     a list that gets each Fault, for --check; nil: a UsageError with all faults is raised, or a StartError
    #            if only a file or directory is missing
    # one_process  this build has no workers (CoreBuild)
    def initialize(written = {}, given: {}, defaults: {}, fixed: {}, defaults_source: "default", notes: [], faults: nil,
                   env: ENV, one_process: CoreBuild.one_process?)
      @one_process = one_process
      @written = written
      @given = given
      @defaults = @fixed = @file = {}
      take_style_defaults(defaults, fixed, defaults_source)
      @faults = faults || []
      @env = env
      @settings = {}
      @hooks = Hooks.new
      @warnings = notes
      note_faults { enter_directory }
      note_faults { read_file } if self[:config_file]
      OptionTable::ALL.each { |option| setting(option) }
      check_socket_owner
      check_request_limits
      note_workers
      note_faults { account } || @account = Account.new
      choose_spool_dir
      refuse unless faults
      freeze
    end

    # Runs a check, and notes its faults.
    def note_faults
      yield
    rescue StartError => e
      @faults.concat(e.messages.map { |message| Fault.new(message, e.exit_status) } - @faults)
      nil
    end

    # The effective value. Times are milliseconds, sizes are bytes.
    def [](key)
      setting(OptionTable[key]).value
    end

    def source(key)
      setting(OptionTable[key]).source
    end

    # True if the option has its default only because its value is wrong. Without `faults`, never.
    def wrong?(key)
      source(key) == WRONG
    end

    # A time in seconds, as a Float.
    def seconds(key) = self[key].fdiv(1000)

    # The user that the application runs as.
    def account
      @account ||= Account.new(*self[:user].to_s.b.split(":").map { |part| FileName.text(part) })
    rescue Account::Unknown => e
      raise UsageError, "#{source(:user)}: #{e.message}"
    end

    def development? = self[:environment] == "development"

    # True if a developer uses the server in a terminal.
    def interactive?
      development? || workers.zero?
    end

    # The settings of Core::Worker.
    def core_settings
      texts = %i[spool_dir trusted_proxies access_log access_log_format ready_path live_path]
      settings = (OptionTable.core.map(&:key) + texts).to_h { |key| [key, self[key]] }
      settings.merge(server_name: self[:server], response_buffer: self[:spool_threshold],
                     x_sendfile: self[:x_sendfile].join("\n"), health_paths: self[:health_paths].join(" "),
                     unbuffered_bodies: self[:unbuffered_bodies].join(" "), public: self[:public].join("\n"),
                     public_headers: self[:public_headers].join("\n"))
    end

    # [[name, value as text, source], ...] in the order of the table.
    def report
      OptionTable::ALL.map do |option|
        [option.name, shown(option), source(option.key)]
      end
    end

    private

    def refuse
      return if @faults.empty?

      kind = @faults.any? { |fault| fault.status == 2 } ? UsageError : StartError
      raise kind.new(*@faults.map(&:message))
    end

    def shown(option)
      value = self[option.key]
      return "none" if value.nil?

      value == :auto ? "auto (at most #{workers})" : option.type.show(value)
    end

    # Enters the Directory of the command line. A relative name of the configuration file begins there.
    def enter_directory
      setting = on_command_line(OptionTable[:directory]) or return
      WorkingDirectory.enter(setting.value, setting.source)
      @directory = WorkingDirectory.name
    end

    def read_file
      name = self[:config_style]
      style = ConfigStyles.of(name) or return # the style is a fault
      @fixed = {} unless ConfigStyles::OWN.include?(name) # these are Rhebok's
      take_style_defaults(style::DEFAULTS, style::FIXED, "#{name}'s default")
      file = with_rack_env do
        ConfigFile.new(self[:config_file], style: style, workers: @written[:max_workers]&.last, env: @env,
                                           faults: method(:note_faults))
      end
      @file = file.entries
      @hooks = file.hooks
      @only_passed = file.only_passed_listeners?
      @warnings += file.warnings
      WorkingDirectory.enter(@directory, source(:directory)) if @directory # the file may have entered another directory
    end

    def take_style_defaults(defaults, fixed, source)
      @defaults = @defaults.merge(defaults.transform_values { |value| Setting.new(value, source) })
      @fixed = @fixed.merge(fixed.transform_values { |value| Setting.new(value, source) })
    end

    def setting(option)
      @settings[option.key] ||= note_faults { SOURCES.lazy.filter_map { |source| send(source, option) }.first } ||
                                Setting.new(default(option), WRONG)
    end

    # Only unix sockets have an owner. A file with both may also be used where the user does not exist.
    def check_socket_owner
      option = OptionTable[:socket_owner]
      return if self[:socket_owner].nil? || self[:listen].none?(&:unix?)

      note_faults { option.check(self[:socket_owner], source(:socket_owner)) || true } ||
        @settings[:socket_owner] = Setting.new(default(option), WRONG)
    end

    def check_request_limits
      return if self[:request_timeout].zero? || self[:request_timeout_soft] < self[:request_timeout]

      @warnings += ["request_timeout_soft is not below request_timeout: its exception comes after the response"]
    end
  end
end
