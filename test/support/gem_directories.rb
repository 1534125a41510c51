# frozen_string_literal: true

module Support
  # How a started Ruby finds the gems of this process: by their directories in RUBYLIB, without RubyGems. RubyGems takes
  # a third of the server's start, Bundler's setup more than all of it, and both write warnings to standard error,
  # depending on the gems of the machine. A test that is about one of them sets both variables itself.
  module GemFolders
    WITHOUT_RUBYGEMS = "--disable=gems"
    SETUP = %r{-r\S*bundler/setup}

    class << self
      # Names and values for Process.spawn; a nil value removes a name.
      def environment
        { "RUBYOPT" => [*without_setup, WITHOUT_RUBYGEMS].join(" "),
          "RUBYLIB" => directories.join(File::PATH_SEPARATOR) }
      end

      private

      def without_setup
        rest = ENV.fetch("RUBYOPT", "").gsub(SETUP, "").strip
        rest unless rest.empty?
      end

      # Ruby finds its default gems without help.
      def directories
        specs = Gem.loaded_specs.values.reject { |spec| spec.default_gem? || spec.name == "bundler" }
        specs.flat_map(&:full_require_paths)
      end
    end
  end
end
