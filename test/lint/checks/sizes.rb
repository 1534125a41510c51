# frozen_string_literal: true

require_relative "c_functions"
require_relative "files"
require_relative "objects/exceptions"

module Lint
  # Limits for lines per file, lines per C function, and columns. A longer file probably has a second purpose.
  # ClassSizes has the limit for a class.
  class Sizes
    LINES = { ".c" => 400, ".h" => 400, ".xs" => 400 }.freeze
    LINES_OF_LIB = 250
    OTHER_LINES = 200
    # Longer files: { path => reason }.
    LISTED = { "lib/bontebok/processes/generations/succession.rb" =>
                 "the rules by which one generation follows another, which are read together" }.freeze
    FUNCTION_LINES = 60
    COLUMNS = 120
    C = "{core,ext,load,bench,perl}/**/*.{c,h,xs}"
    RUBY = "{lib,ext,exe,test,examples,bench,core}/**/*.rb"
    PERL = "{perl,test,bench,examples}/**/*.{pm,pl,PL,psgi,t}"
    OTHER = "{exe/*,bin/**/*,.ci/*,bench/*}"
    DOCUMENT = /\.md\z/

    def initialize(root, listed: LISTED)
      @root = root
      @listed = listed
    end

    def faults
      Exceptions.faults(long, @listed) + lines.flat_map do |file, texts|
        column_faults(file, texts) + (file.end_with?(*LINES.keys) ? function_faults(file, texts) : [])
      end
    end

    def print_exceptions = Exceptions.print(long, @listed)

    private

    # Returns { path => lines }.
    def lines
      @lines ||= Files.glob(@root, [C, RUBY, PERL, OTHER], File::FNM_DOTMATCH).grep_v(DOCUMENT)
                      .select { |file| File.file?(File.join(@root, file)) }
                      .to_h { |file| [file, File.readlines(File.join(@root, file), chomp: true, encoding: "UTF-8")] }
    end

    def long
      lines.filter_map do |file, texts|
        limit = LINES.fetch(File.extname(file)) { file.start_with?("lib/") ? LINES_OF_LIB : OTHER_LINES }
        [file, "#{file} has #{texts.size} lines, more than #{limit}"] if texts.size > limit
      end.to_h
    end

    def column_faults(file, texts)
      texts.each_with_index.select { |text, _| text.size > COLUMNS }
           .map { |text, index| "#{file}:#{index + 1} has #{text.size} columns" }
    end

    def function_faults(file, lines)
      CFunctions.new(lines).filter_map do |name, line, count|
        "#{file}:#{line} #{name} has #{count} lines, more than #{FUNCTION_LINES}" if count > FUNCTION_LINES
      end
    end
  end
end
