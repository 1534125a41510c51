# frozen_string_literal: true

require_relative "start_command"

module Bontebok
  # The files from which the start command takes its code if this process executes it again: those that the command
  # names, those that `require` and RubyGems have loaded, and those that Bundler looks for. The command can lead to
  # another release now, so the files of that release count. Those of this process count as well, because it is executed
  # again if the new program fails. Used by a supervisor that stays root, which must not execute code of other users.
  module CodeFiles
    # Files that Bundler reads, and the directory of its settings.
    BUNDLER = %w[Gemfile gems.rb Gemfile.lock gems.locked .bundle .bundle/config].freeze
    # A file of this mode can be changed by its group or by all users.
    WRITABLE = 0o022

    class << self
      # Returns a path that another user than root can change, or nil. Raises SystemCallError.
      def changeable
        named = StartCommand.files.map { |path| existing(path) }
        [*named, *loaded, *bundler].uniq.find { |path| !roots?(path) }
      end

      # True if only root can change the file, or the names in the directory, and where the path leads. Raises
      # SystemCallError.
      def roots?(path)
        File.realpath(path) # fails if the links make a circle
        leads_to_roots?(File.expand_path(path), sticky: false)
      end

      private

      # RubyGems and Bundler have settings in the home directory.
      def loaded
        names = [*$LOADED_FEATURES, *gems, StartCommand.environment["HOME"]].compact
        names = names.select { |name| name.start_with?("/") }
        names.select { |name| File.exist?(name) } + names.map { |name| existing(StartCommand.again(name)) }
      end

      # RubyGems evaluates gemspecs. Ruby can run without RubyGems.
      def gems
        defined?(Gem) ? [*Gem.path, *Gem.loaded_specs.each_value.map(&:loaded_from)] : []
      end

      # The path, or the directory in which it can be created. Each version of a gem has a directory beside the others.
      def existing(path)
        File.exist?(path) ? path : existing(File.dirname(path))
      end

      def bundler
        return [] unless defined?(Bundler)

        gemfile = gemfile_of_environment
        places = gemfile ? [File.dirname(gemfile)] : ways(StartCommand.directory)
        names = places.product(BUNDLER).map { |place, name| File.join(place, name) }
        [places.first, *names, "#{gemfile}.lock"].select { |path| File.exist?(path) }
      end

      # Without BUNDLE_GEMFILE, Bundler looks for a Gemfile in the working directory and above it.
      def gemfile_of_environment
        path = StartCommand.environment["BUNDLE_GEMFILE"]
        File.expand_path(path, StartCommand.directory) unless path.to_s.empty?
      end

      # The path and all its directories.
      def ways(path)
        parent = File.dirname(path)
        parent == path ? [path] : [path, *ways(parent)]
      end

      # sticky: as for #root_keeps?.
      def leads_to_roots?(path, sticky:)
        *above, last = ways(path).reverse
        above.all? { |way| root_keeps?(way, sticky: true) } && root_keeps?(last, sticky: sticky)
      end

      # sticky: a directory with the sticky bit may be writable. Nobody can replace root's files in it, only add files.
      def root_keeps?(way, sticky:)
        stat = File.lstat(way)
        return false unless stat.uid.zero?

        if stat.symlink?
          leads_to_roots?(File.expand_path(File.readlink(way).b, File.dirname(way).b), sticky: sticky)
        else
          stat.mode.nobits?(WRITABLE) || (sticky && stat.directory? && stat.sticky?)
        end
      end
    end
  end
end
