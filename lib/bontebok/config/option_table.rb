# frozen_string_literal: true

require_relative "option_table/around"
require_relative "option_table/bodies"
require_relative "option_table/garbage"
require_relative "option_table/limits"
require_relative "option_table/listening"
require_relative "option_table/logs"
require_relative "option_table/processes"
require_relative "option_table/times"

module Bontebok
  # The table of all options. Each file of the directory option_table has one section. The command line, the
  # configuration file, --help, --check, docs/CONFIGURATION.md and the core's settings are made from this table. A new
  # option is added to its section and nowhere else.
  module OptionTable
    SECTIONS = [Listening, Processes, Garbage, Around, Limits, Times, Bodies, Logs].freeze
    ALL = SECTIONS.flat_map { |section| section::OPTIONS }.freeze

    BY_KEY = ALL.to_h { |option| [option.key, option] }.freeze
    BY_FLAG = ALL.flat_map { |option| option.flags.map { |flag| [flag, option] } }.to_h.freeze
    BY_SHORT = ALL.filter_map { |option| ["-#{option.short}", option] if option.short }.to_h.freeze

    module_function

    # The option with this key. Raises KeyError.
    def [](key)
      BY_KEY.fetch(key)
    end

    # The option that has this spelling, or nil.
    def find(name)
      ALL.find { |option| option.spellings.include?(name) }
    end

    def spellings
      ALL.flat_map(&:spellings)
    end

    def core
      ALL.select(&:core?)
    end

    # { section => [options] } in the table's order.
    def sections
      ALL.group_by(&:section)
    end
  end
end
