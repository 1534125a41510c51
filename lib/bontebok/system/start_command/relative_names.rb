# frozen_string_literal: true

module Bontebok
  module StartCommand
    # The relative names of files in a start command, which begin in the directory of the start. If this directory has
    # gone, the command is executed in another one, with full names. So it finds no other files.
    class RelativeNames
      # Variables with paths.
      LISTS = %w[PATH RUBYLIB GEM_HOME GEM_PATH BUNDLE_GEMFILE].freeze

      # Must be called in the directory of the start. arguments: how many of the words are arguments of the program.
      # paths: { index of an argument => the path at its end }. found: the configuration file that no argument names.
      # gemfile: the Gemfile that no variable names.
      def initialize(words, env, arguments: 0, paths: {}, found: nil, gemfile: nil)
        @words = words
        @first = words.size - arguments
        @paths = paths.transform_keys { |index| @first + index }
        words.first(@first).each_with_index { |word, index| own_path(word)&.then { |path| @paths[index] = path } }
        @env = env
        @found = found
        @gemfile = gemfile
      end

      # The words with the names that the files had in this directory.
      def words(directory)
        words = @words.dup
        @paths.each { |index, path| words[index] = words[index].b.delete_suffix(path.b) + full(path, directory) }
        words.insert(@first, "-c", full(@found, directory)) if @found
        words
      end

      def env(directory)
        lists = @env.slice(*LISTS).transform_values { |text| text.b.gsub(/[^:]+/) { |path| full(path, directory) } }
        options = @env.slice("RUBYOPT").transform_values do |text|
          text.b.gsub(/(?<=-I)\S+|(?<=-r)\.\S+/) { |path| full(path, directory) }
        end
        gemfile = @gemfile ? { "BUNDLE_GEMFILE" => @gemfile } : {}
        { **@env, **gemfile, **lists, **options }
      end

      # The files and directories that the words name.
      def files(directory)
        [*@paths.values, *@found].map { |path| full(path, directory) }
      end

      private

      # A relative path in a word for Ruby, such as exe/bontebok, -Ilib or -r./file; nil: there is none.
      def own_path(word)
        path = word[%r{\A(?:-I|-r(?=\.))?([^-/].*)}mn, 1]
        path if path && (path.include?("/") || word.start_with?("-I")) && File.exist?(path)
      end

      def full(path, directory) = File.absolute_path(path.b, directory.b)
    end
  end
end
