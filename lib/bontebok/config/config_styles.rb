# frozen_string_literal: true

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
    # { name => name of the class }
    ALL = { "bontebok" => :Native, "puma" => :Puma, "unicorn" => :Unicorn, "pitchfork" => :Pitchfork,
            "rhebok" => :Rhebok }.freeze
    # The styles that have Bontebok's directives.
    OWN = %w[bontebok rhebok].freeze
    FOREIGN = (ALL.keys - ["bontebok"]).join("|")
    # unicorn.rb, unicorn.conf.rb, puma-production.rb; config/puma/production.rb
    FOREIGN_NAMES = [%r{(?:\A|/)(#{FOREIGN})[._-][^/]*\z}, %r{(?:\A|/)config/(#{FOREIGN})/[^/]*\z}].freeze

    # Returns the class of the style; nil: there is no style with this name. Loads the files of this style, because a
    # start uses one style or none.
    def self.of(name)
      constant = ALL[name] or return
      require_relative "config_styles/#{constant.downcase}"
      const_get(constant)
    end

    # The name of the style of the file with this path.
    def self.name_of(path)
      FOREIGN_NAMES.filter_map { |pattern| path.b[pattern, 1] }.first || "bontebok"
    end
  end
end
