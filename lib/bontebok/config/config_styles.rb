# frozen_string_literal: true

require_relative "config_styles/native"
require_relative "config_styles/puma"
require_relative "config_styles/unicorn"

module Bontebok
  # The languages that a configuration file may be written in: our own, and those of servers that people come from. A
  # style is a class: `self` in the file is an instance, made with the ConfigFile that is told what the file says. Its
  # DEFAULTS hold for options of which nobody says anything: { key => effective value, or callable(config) }.
  module ConfigStyles
    ALL = { "bontebok" => Native, "puma" => Puma, "unicorn" => Unicorn }.freeze
    # unicorn.rb, unicorn.conf.rb, puma-production.rb; config/puma/production.rb
    FOREIGN_NAMES = [%r{(?:\A|/)(puma|unicorn)[._-][^/]*\z}, %r{(?:\A|/)config/(puma|unicorn)/[^/]*\z}].freeze

    # The style of this name; nil: what the file's name tells.
    def self.for(path, name)
      ALL.fetch(name || FOREIGN_NAMES.filter_map { |pattern| path.b[pattern, 1] }.first || "bontebok")
    end
  end
end
