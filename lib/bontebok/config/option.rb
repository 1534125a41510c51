# frozen_string_literal: true

require_relative "option_types"
require_relative "../usage_error"

module Bontebok
  # One line of OptionTable: an option's one name in all its spellings, its type and its default.
  #
  #   name      MaxTarget: what documentation, messages and --check call it
  #   key       :max_target: the configuration file's method, the core's setting
  #   flag      --max-target; aliases are further flags and methods of the file
  #   default   the effective value; nil when Config works it out (then default_text says how)
  #   core      true: it is a setting of the core, under the same key
  class Option
    attr_reader :name, :key, :flag, :short, :aliases, :type, :default, :section, :help, :environment_variables

    def initialize(name, type, default, help, section:, **details)
      @name = name
      @type = type
      @default = default
      @section = section
      @help = help
      @key = details.fetch(:key) { name.gsub(/(?<=[a-z])(?=[A-Z])/, "_").downcase.to_sym }
      @flag = dashed(@key)
      @short = details[:short]
      @aliases = details.fetch(:aliases, []).freeze
      @environment_variables = details.fetch(:environment_variables, []).freeze
      @default_text = details[:default_text]
      @core = details.fetch(:core, false)
      @repeated = details.fetch(:repeated, false)
      @in_file = details.fetch(:in_file, true)
      freeze
    end

    # Every long flag, the one that documentation uses first.
    def flags
      [flag, *aliases.map { |name| dashed(name) }]
    end

    # Every method of the configuration file.
    def all_keys
      [key, *aliases]
    end

    def core?
      @core
    end

    # It may be given several times; the values add up.
    def repeated?
      @repeated
    end

    # The configuration file may set it.
    def in_file?
      @in_file
    end

    # It needs no value on the command line.
    def switch?
      type.is_a?(OptionTypes::Switch)
    end

    # The effective value of what was written. place tells where, for the message.
    def read(value, place)
      type.read(value)
    rescue OptionTypes::Invalid => e
      raise UsageError, "#{place}: #{name} wants #{e.message}, not #{abridged(value)}"
    end

    def default_text
      @default_text || (default.nil? ? "none" : type.show(default))
    end

    private

    def dashed(key)
      "--#{key.to_s.tr('_', '-')}"
    end

    def abridged(value)
      text = (value.is_a?(Array) && value.size == 1 ? value.first : value).inspect
      text.size > 80 ? "#{text[0, 77]}..." : text
    end
  end
end
