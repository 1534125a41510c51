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
    # unicorn.rb, unicorn.conf.rb, puma-production.rb
    FOREIGN_NAME = /\A(puma|unicorn)(?=[._-])/

    # The style of this name; nil: what the file's name tells.
    def self.for(path, name)
      ALL.fetch(name || File.basename(path)[FOREIGN_NAME] || "bontebok")
    end
  end
end
