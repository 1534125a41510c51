# frozen_string_literal: true

require_relative "../start_error"

module Bontebok
  # Loads the extension with the core. Used by Launcher and Check.
  module Extension
    NAME = "bontebok/bontebok"
    HELP = "build it: `bundle pristine bontebok` for a gem of the Gemfile, `gem pristine bontebok` for an installed " \
           "gem, `bin/setup` in a checkout or for a gem with `path:`"

    # Returns true. Raises StartError with two lines: the cause, and the commands that build the extension.
    def self.load
      require NAME
      true
    rescue LoadError => e
      cause = e.path == NAME ? "it is not built" : e.message.lines.first.chomp
      raise StartError, "cannot load the extension: #{cause}\n#{HELP}"
    end
  end
end
