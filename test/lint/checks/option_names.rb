# frozen_string_literal: true

require "bontebok/config/option_table"

module Lint
  # Checks that documents, messages and comments name an option as the configuration file does, and not as rackup's -O:
  # max_queue, not MaxQueue. A name of one word is not checked, because it may begin a sentence.
  class OptionNames
    DOCUMENTS = ["*.md", "{docs,bench,core,ext,lib,perl}/**/*.md"].freeze
    SOURCES = ["{core/src,ext,load/src,perl/xs}/**/*.{c,h}", "{lib,ext,perl/lib}/**/*.{rb,pm}"].freeze
    # A line that describes -O or WEBrick: it names them, or is a row of the table about -O.
    RACKUP = Hash.new(/-O|WEBrick/).merge("docs/MIGRATING.md" => /-O|WEBrick|\A\| `[A-Z]\w+`/).freeze

    NAMES = Bontebok::OptionTable::ALL.map(&:rackup_name).grep(/\A[A-Z]+[a-z]+[A-Z]|\AX/).freeze
    NAME = /(?<![\w:.])(?:#{Regexp.union(NAMES)})(?![\w=])/
    STRING = /"(?:[^"\\]|\\.)*"/
    COMMENT = %r{\A\s*(?:#(?!define)|/?\*).*}
    # Classes, which comments may name.
    CLASSES = %w[ConfigFile RequestTimeout RestartFile SocketOwner SpoolDir].freeze

    def initialize(root)
      @root = root
    end

    def faults
      in_documents + in_sources
    end

    private

    def in_documents
      lines(DOCUMENTS).flat_map do |path, line, place|
        line.match?(RACKUP[path]) ? [] : line.scan(NAME).map { |name| "#{place} names #{name}" }
      end
    end

    # The names are an argument of Option in the table.
    def in_sources
      lines(SOURCES).flat_map do |_, line, place|
        next [] if line.match?(/-O|rackup|WEBrick|rb_define_class/)

        names_in(line).map { |name| "#{place} says #{name}" }
      end
    end

    def names_in(line)
      comment = line[COMMENT]
      return comment.scan(NAME) - CLASSES if comment

      line.scan(STRING).flat_map { |text| text.scan(NAME) }
    end

    # Yields path, text and place of each line.
    def lines(patterns)
      Dir.glob(patterns, base: @root).sort.flat_map do |path|
        File.readlines(File.join(@root, path), encoding: "UTF-8").each_with_index.map do |line, index|
          [path, line, "#{path}:#{index + 1}"]
        end
      end
    end
  end
end
