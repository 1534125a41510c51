# frozen_string_literal: true

require_relative "../system/error_text"
require_relative "option_types"
require_relative "option_types/plain_value"
require_relative "../usage_error"

module Bontebok
  # An option of OptionTable: its name in all spellings, its type, its default and its text.
  #
  #   name      MaxTarget, in documentation, in messages and for --check
  #   key       :max_target, the configuration file's method and the core's setting
  #   flag      --max-target; aliases are additional flags, and additional methods of the configuration file
  #   default   the effective value; nil if Config computes it (default_text then describes it)
  #   help      the text for users; its first sentence is the summary, of at most 60 characters
  #   core      true: the core has a setting with the same key
  class Option
    # A wrong value is shown up to this length. The value can be a path, whose end can be wrong.
    LONGEST_SHOWN = 1000
    private_constant :LONGEST_SHOWN

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

    # All long flags. The first one is in the documentation.
    def flags
      [flag, *aliases.map { |name| dashed(name) }]
    end

    # All methods of the configuration file.
    def all_keys
      [key, *aliases]
    end

    # All texts that name the option on the command line or in a configuration file.
    def spellings
      opposites = switch? ? flags.map { |flag| flag.sub("--", "--no-") } : []
      [name, *("-#{short}" if short), *flags, *opposites, *all_keys.map(&:to_s)]
    end

    # The first sentence of the text, without its full stop.
    def summary
      help[/\A.+?(?=\.(?:\s|\z))/]
    end

    def core?
      @core
    end

    # The option may be given several times; all values count.
    def repeated?
      @repeated
    end

    # The configuration file may set the option.
    def in_file?
      @in_file
    end

    # The option needs no value on the command line.
    def switch?
      type.is_a?(OptionTypes::Switch)
    end

    # Converts a value to the effective value. place: the source of the value, for the message. Raises UsageError.
    def read(value, place)
      plain = plain(value, place)
      told(value, place) { type.read(plain) }
    end

    # The value as a type of Ruby itself (PlainValue). Raises UsageError.
    def plain(value, place)
      OptionTypes::PlainValue.of(value)
    rescue StandardError => e # a method of the object may raise anything
      raise UsageError, "#{place}: #{name}: #{ErrorText.line(e)}"
    end

    # Checks an effective value that may be wrong on this machine only. Raises UsageError.
    def check(value, place)
      told(value, place) { type.check(value) }
    end

    def default_text
      @default_text || (default.nil? ? "none" : type.show(default))
    end

    private

    def told(value, place)
      yield
    rescue OptionTypes::Invalid => e
      raise UsageError, "#{place}: #{name} wants #{e.message}, not #{abridged(value)}"
    end

    def dashed(key)
      "--#{key.to_s.tr('_', '-')}"
    end

    # A BasicObject cannot be inspected, and the method `inspect` of an object may raise anything.
    def abridged(value)
      value = value.first if Array === value && value.size == 1 # rubocop:disable Style/CaseEquality -- a BasicObject
      text = ErrorText.in_one_line(value.inspect)
      text.size > LONGEST_SHOWN ? "#{text[0, LONGEST_SHOWN]}..." : text
    rescue StandardError
      "an object of #{Kernel.instance_method(:class).bind_call(value)}"
    end
  end
end
