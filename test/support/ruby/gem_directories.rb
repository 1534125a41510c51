# frozen_string_literal: true

module Support
  # The environment for Ruby processes that tests start. RUBYLIB names the directories of this process's gems, so the
  # started Ruby does not need RubyGems. RubyGems takes a third of the server's start time, and Bundler's setup takes
  # longer than the whole start. Both can write warnings to standard error, depending on the machine's gems. A test
  # about RubyGems or Bundler sets RUBYOPT and RUBYLIB itself.
  module GemDirectories
    WITHOUT_RUBYGEMS = "--disable=gems"
    # RUBYOPT cannot name a path with a space.
    COMPILED = File.expand_path("compiled.rb", __dir__).then { |path| path.include?(" ") ? nil : "-r#{path}" }
    SETUP = %r{-r\S*bundler/setup}

    class << self
      # Returns the variables for Process.spawn.
      def environment
        { "RUBYOPT" => [*without_setup, WITHOUT_RUBYGEMS, *COMPILED].join(" "),
          "RUBYLIB" => directories.join(File::PATH_SEPARATOR) }
      end

      private

      def without_setup
        rest = ENV.fetch("RUBYOPT", "").gsub(SETUP, "").strip
        rest unless rest.empty?
      end

      # Ruby finds its default gems without RUBYLIB.
      def directories
        specs = Gem.loaded_specs.values.reject { |spec| spec.default_gem? || spec.name == "bundler" }
        specs.flat_map(&:full_require_paths)
      end
    end
  end
end
