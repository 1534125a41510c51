# frozen_string_literal: true

require_relative "address"
require_relative "config_file"
require_relative "config_styles"
require_relative "defaults"
require_relative "option_table"
require_relative "rhebok_options"

module Bontebok
  # Looks for the value of an option. The first source that has a value wins: command line, configuration file, options
  # of the rackup command, environment, default. Used by Config.
  class Sources
    # The default configuration file.
    FILE = "config/bontebok.rb"
    # The source of the default in place of a wrong value.
    WRONG = "default, because the value is wrong"

    Setting = Struct.new(:value, :source)

    # entries: { key => ConfigFile::Entry } of the configuration file.
    attr_reader :entries

    # written, given, env: see Config. faults: the Faults.
    def initialize(written, given, env, faults)
      @written = written
      @given = given
      @env = env
      @faults = faults
      @entries = @defaults = @fixed = {}
    end

    # Adds defaults of a style, of RackupOptions or of RailsOptions. They replace the table's defaults.
    def take_defaults(defaults, fixed, source)
      @defaults = @defaults.merge(defaults.transform_values { |value| Setting.new(value, source) })
      @fixed = @fixed.merge(fixed.transform_values { |value| Setting.new(value, source) })
    end

    # Reads the configuration file. style: the name of its style. Returns the ConfigFile; nil: there is no such style,
    # which is a fault of the option.
    def read_file(path, style)
      found = ConfigStyles.of(style) or return
      @fixed = {} unless ConfigStyles::OWN.include?(style) # these are Rhebok's
      take_defaults(found::DEFAULTS, found::FIXED, "#{style}'s default")
      file = with_rack_env do
        ConfigFile.new(path, style: found, workers: @written[:max_workers]&.last, env: @env,
                             faults: @faults.method(:note))
      end
      @entries = file.entries
      @only_passed = file.only_passed_listeners?
      file
    end

    # Returns a Setting. The fault of a wrong value is noted. config: the Config, because a default may depend on other
    # options.
    def setting(option, config)
      @faults.note { find(option, config) } || Setting.new(default(option, config), WRONG)
    end

    # True if the user has chosen a value for this option. Values of other sources can be ignored. For example, a server
    # that gets its sockets from systemd or start_server ignores $PORT. If the file leaves the addresses to the program
    # that passes listeners, no address is chosen.
    def chosen?(key)
      !(key == :listen && @only_passed) && !choice(OptionTable[key]).nil?
    end

    # This method and the private ones return a Setting or nil, and may raise UsageError.
    def on_command_line(option)
      setting_of(option, @written[option.key], "command line")
    end

    private

    def find(option, config)
      choice(option) || @fixed[option.key] || in_environment(option, config) || of_style(option, config) ||
        by_default(option, config)
    end

    def choice(option)
      on_command_line(option) || in_file(option) || given(option) || by_timeout(option)
    end

    def given(option)
      setting_of(option, @given[option.key], Option::RACKUP)
    end

    def setting_of(option, values, place)
      return unless values

      Setting.new(option.repeated? ? read_list(option, values.flatten, place) : option.read(values.last, place), place)
    end

    # Notes the fault of each wrong value. The others count; if all are wrong, the option is wrong. places: the place of
    # each value, if the values have several places.
    def read_list(option, values, place, places = nil)
      values = Array(values)
      good = values.zip(places.to_a).filter_map do |value, own|
        value if @faults.note { option.read([value], own || place) }
      end
      option.read(good.empty? ? values.first(1) : good, place)
    end

    def in_file(option)
      entry = @entries[option.key] || (RhebokOptions.address(@entries) if option.key == :listen) or return
      value = option.repeated? ? read_list(option, *entry) : option.read(entry.value, entry.place)
      Setting.new(value, entry.place)
    end

    # Rhebok's Timeout, of the file or of -O.
    def by_timeout(option)
      timeout = RhebokOptions::TIMEOUT
      in_file(timeout) || given(timeout) if RhebokOptions::TIMEOUTS.include?(option.key)
    end

    def in_environment(option, config)
      name, text = variable(option)
      return unless name
      return Setting.new(option.read(text, "environment #{name}"), "environment #{name}") unless option.key == :listen

      hosts = default_hosts(config)
      port = option.read(Address.text(hosts.first, text), "environment #{name}").first.port
      Setting.new(addresses(hosts, port), "environment #{name}")
    end

    # The first variable of the option that is not blank, and its text; nil: none. A variable may hold any bytes, like
    # an argument of the command line.
    def variable(option)
      option.environment_variables.lazy
            .map { |name| [name, @env[name].to_s.b.strip.force_encoding(Encoding::UTF_8)] }
            .find { |_, text| !text.empty? }
    end

    # A default that #take_defaults has added.
    def of_style(option, config)
      found = @defaults.fetch(option.key) { return }
      found.value.respond_to?(:call) ? Setting.new(found.value.call(config), found.source) : found
    end

    def by_default(option, config)
      return Setting.new(FILE, "found") if option.key == :config_file && File.file?(FILE)
      return Setting.new(ConfigStyles.name_of(config[:config_file]), "file name") if style_of_file?(option, config)
      return Setting.new(Defaults::RAILS_THREADS, Defaults::RAILS) if Defaults.for_rails?(option, config)

      Setting.new(default(option, config), "default")
    end

    def style_of_file?(option, config)
      option.key == :config_style && config[:config_file]
    end

    def default(option, config)
      option.key == :listen ? addresses(default_hosts(config), Defaults::PORT) : Defaults.of(option, config)
    end

    # Defaults of another server have hosts of their own.
    def default_hosts(config)
      @defaults.key?(:listen) ? @defaults[:listen].value.map(&:host) : Defaults.hosts(config)
    end

    def addresses(hosts, port)
      hosts.map { |host| Address.new(host: host, port: port) }
    end

    # RACK_ENV is set while the file is read, because the file may use it. A value that the file sets stays.
    def with_rack_env
      former = @env["RACK_ENV"]
      environment = environment_so_far
      @env["RACK_ENV"] = environment if environment
      yield
    ensure
      @env["RACK_ENV"] = former if environment && @env["RACK_ENV"] == environment
    end

    # nil also for a wrong value. It is a fault only if the file has no value (#setting).
    def environment_so_far
      option = OptionTable[:environment]
      (on_command_line(option) || in_environment(option, nil))&.value
    rescue UsageError
      nil
    end
  end
end
