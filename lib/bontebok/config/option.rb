# frozen_string_literal: true

require_relative "../system/error_text"
require_relative "option_types"
require_relative "option_types/plain_value"
require_relative "../usage_error"

module Bontebok
  # An option of OptionTable: its name in all spellings, its type, its default and its text.
  #
  #   name      max_target, the configuration file's method; also in documents, in messages and for --check
  #   key       :max_target, also the core's setting
  #   flag      --max-target; aliases are additional flags, and additional methods of the configuration file
  #   rackup_name  MaxTarget, for -O of rackup, as in Rhebok
  #   default   the effective value; nil if Config computes it (default_text then describes it)
  #   help      the text for users; its first sentence is the summary, of at most 60 characters
  #   core      true: the core has a setting with the same key
  class Option
    # The place of a value that is an option of rackup.
    RACKUP = "rackup -O"
    # A wrong value is shown up to this length. The value can be a path, whose end can be wrong.
    LONGEST_SHOWN = 1000
    private_constant :LONGEST_SHOWN

    attr_reader :name, :key, :flag, :short, :aliases, :type, :default, :section, :help, :environment_variables,
                :rackup_name

    def initialize(name, type, default, help, section:, **details)
      @name = name
      @type = type
      @default = default
      @section = section
      @help = help
      @key = name.to_sym
      @rackup_name = details.fetch(:rackup_name) { name.split("_").map(&:capitalize).join }
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
      [*("-#{short}" if short), *flags, *opposites, *all_keys.map(&:to_s), rackup_name]
    end

    # The name as the user has written it at this place.
    def name_at(place)
      place == RACKUP ? rackup_name : name
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

    # A limit or a time that is 0 by default is off.
    def default_text
      return @default_text || "none" if @default_text || default.nil?

      default.eql?(0) ? "off" : type.show(default)
    end

    private

    def told(value, place)
      yield
    rescue OptionTypes::Invalid => e
      raise UsageError, "#{place}: #{name_at(place)} wants #{e.message}, not #{abridged(value)}"
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
