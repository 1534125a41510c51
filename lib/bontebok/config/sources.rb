# frozen_string_literal: true

require_relative "rhebok_options"

module Bontebok
  # The part of Config that looks for the value of an option. Each method of SOURCES gets an Option and returns a
  # Setting or nil, and may raise UsageError.
  module Sources
    # The sources of explicit choices. Values of other sources can be ignored. For example, a server that gets its
    # sockets from systemd or start_server ignores $PORT.
    CHOICES = %i[on_command_line in_file given by_timeout].freeze
    SOURCES = [*CHOICES, :fixed, :in_environment, :by_style, :by_default].freeze
    # The default configuration file.
    FILE = "config/bontebok.rb"

    Setting = Struct.new(:value, :source)

    # True if one of CHOICES has a value for this option. If the file leaves the addresses to the program that passes
    # listeners, no address is chosen.
    def chosen?(key)
      return false if key == :listen && @only_passed

      CHOICES.any? { |source| send(source, OptionTable[key]) }
    end

    private

    def on_command_line(option)
      setting_of(option, @written[option.key], "command line")
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
        value if note_faults { option.read([value], own || place) }
      end
      option.read(good.empty? ? values.first(1) : good, place)
    end

    def in_file(option)
      entry = @file[option.key] || (RhebokAddress.entry(@file) if option.key == :listen) or return
      value = option.repeated? ? read_list(option, *entry) : option.read(entry.value, entry.place)
      Setting.new(value, entry.place)
    end

    # Rhebok's Timeout, of the file or of -O.
    def by_timeout(option)
      timeout = RhebokOptions::TIMEOUT
      in_file(timeout) || given(timeout) if RhebokOptions::TIMEOUTS.include?(option.key)
    end

    # A blank variable counts as not set.
    def in_environment(option)
      name, text = option.environment_variables.lazy.map { |one| [one, text_of(one)] }.find { |_, one| !one.empty? }
      return unless name

      text = Address.text(default_hosts.first, text) if option.key == :listen
      value = option.read(text, "environment #{name}")
      value = default_addresses(value.first.port) if option.key == :listen
      Setting.new(value, "environment #{name}")
    end

    # A variable may hold any bytes, like an argument of the command line.
    def text_of(variable)
      @env[variable].to_s.b.strip.force_encoding(Encoding::UTF_8)
    end

    def fixed(option)
      @fixed[option.key]
    end

    # A default of the configuration file's style, of RackupOptions or of RailsOptions. It replaces the table's default.
    def by_style(option)
      found = @defaults.fetch(option.key) { return }
      found.value.respond_to?(:call) ? Setting.new(found.value.call(self), found.source) : found
    end

    def by_default(option)
      return Setting.new(FILE, "found") if option.key == :config_file && File.file?(FILE)
      return Setting.new(ConfigStyles.name_of(self[:config_file]), "file name") if style_of_file?(option)

      default_setting(option)
    end

    def style_of_file?(option)
      option.key == :config_style && self[:config_file]
    end
  end
end
