# frozen_string_literal: true

require "rbconfig"

require_relative "../start_error"

module Bontebok
  # Loads the extension with the core. Used by Config, Launcher, Successor, Check and ControlCommand.
  module Extension
    NAME = "bontebok/bontebok"
    HELP = "build it: `bundle pristine bontebok` for a gem of the Gemfile, `gem pristine bontebok` for an installed " \
           "gem, `bin/setup` in a checkout or for a gem with `path:`"

    class << self
      # Returns true. Raises StartError with the cause, and with the commands that build the extension if they help.
      def load
        require NAME
        true
      rescue LoadError => e
        raise StartError, message(e)
      end

      # True if the core was built without the calls of Linux: one process serves, and forks nothing. False also if the
      # extension is not built, because the start reports this later.
      def one_process?
        require NAME
        Core::PORTABLE
      rescue LoadError
        false
      end

      private

      # Ruby ignores a file that it is not permitted to read.
      def message(error)
        files = $LOAD_PATH.map { |directory| "#{directory}/#{NAME}.#{RbConfig::CONFIG['DLEXT']}" }
        file = files.find { |path| File.exist?(path) }
        return "cannot load the extension: no permission to read #{file}" if error.path == NAME && file

        cause = error.path == NAME ? "it is not built" : error.message.lines.first.chomp
        "cannot load the extension: #{cause}\n#{HELP}"
      end
    end
  end
end
