# frozen_string_literal: true

require_relative "config_styles/native"
require_relative "config_styles/puma"
require_relative "config_styles/unicorn"

module Bontebok
  # The languages of configuration files: Bontebok's, and those of puma and unicorn. A style is a class. In the file,
  # `self` is an instance of the style, which stores the file's values in a ConfigFile. Each style has a constant
  # DEFAULTS with the defaults of options that are not set: { key => value }. A callable value gets the Config and
  # returns the default.
  module ConfigStyles
    ALL = { "bontebok" => Native, "puma" => Puma, "unicorn" => Unicorn }.freeze
    # unicorn.rb, unicorn.conf.rb, puma-production.rb; config/puma/production.rb
    FOREIGN_NAMES = [%r{(?:\A|/)(puma|unicorn)[._-][^/]*\z}, %r{(?:\A|/)config/(puma|unicorn)/[^/]*\z}].freeze

    # The style with this name. If name is nil, the file's path decides.
    def self.for(path, name)
      ALL.fetch(name || FOREIGN_NAMES.filter_map { |pattern| path.b[pattern, 1] }.first || "bontebok")
    end
  end
end
