# frozen_string_literal: true

require_relative "config_styles/native"
require_relative "config_styles/pitchfork"
require_relative "config_styles/puma"
require_relative "config_styles/rhebok"
require_relative "config_styles/unicorn"

module Bontebok
  # The languages of configuration files: Bontebok's, and those of other servers. A style is a class. In the file,
  # `self` is an instance of the style, which stores the file's values in a ConfigFile. Each style has these constants:
  #
  #   DEFAULTS    defaults of options that are not set: { key => value }; a callable value gets the Config and returns
  #               the default
  #   FIXED       defaults that also win over variables of the environment
  #   LIBRARIES   what the other server has loaded when it reads the file
  #   CONSTANTS   { constant => library }: what the other server has loaded, too. Here, the library is loaded when the
  #               file uses the constant, because few files do
  module ConfigStyles
    ALL = { "bontebok" => Native, "puma" => Puma, "unicorn" => Unicorn, "pitchfork" => Pitchfork,
            "rhebok" => Rhebok }.freeze
    FOREIGN = (ALL.keys - ["bontebok"]).join("|")
    # unicorn.rb, unicorn.conf.rb, puma-production.rb; config/puma/production.rb
    FOREIGN_NAMES = [%r{(?:\A|/)(#{FOREIGN})[._-][^/]*\z}, %r{(?:\A|/)config/(#{FOREIGN})/[^/]*\z}].freeze

    # The name of the style of the file with this path.
    def self.name_of(path)
      FOREIGN_NAMES.filter_map { |pattern| path.b[pattern, 1] }.first || "bontebok"
    end
  end
end
