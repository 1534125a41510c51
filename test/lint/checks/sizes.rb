# frozen_string_literal: true

require_relative "c_functions"
require_relative "files"

module Lint
  # Limits for lines per file, lines per C function, and columns. A longer file probably has a second purpose.
  class Sizes
    LINES = { ".c" => 400, ".h" => 400, ".xs" => 400, ".rb" => 200, "" => 200 }.freeze
    FUNCTION_LINES = 60
    COLUMNS = 120
    C = "{core,ext,load,bench,perl}/**/*.{c,h,xs}"
    RUBY = "{lib,ext,exe,test,examples,bench,core}/**/*.rb"
    PERL = "{perl,test,bench,examples}/**/*.{pm,pl,PL,psgi,t}"
    OTHER = "{exe/*,bin/**/*,.ci/*,bench/*}"
    DOCUMENT = /\.md\z/

    def initialize(root)
      @root = root
    end

    def faults
      Files.glob(@root, [C, RUBY, PERL, OTHER], File::FNM_DOTMATCH).grep_v(DOCUMENT).flat_map do |file|
        path = File.join(@root, file)
        File.file?(path) ? file_faults(file, File.readlines(path, chomp: true, encoding: "UTF-8")) : []
      end
    end

    private

    def file_faults(file, lines)
      limit = LINES.fetch(File.extname(file), LINES[""])
      found = []
      found << "#{file} has #{lines.size} lines, more than #{limit}" if lines.size > limit
      lines.each_with_index do |line, index|
        found << "#{file}:#{index + 1} has #{line.size} columns" if line.size > COLUMNS
      end
      found + (file.end_with?(".c", ".h", ".xs") ? function_faults(file, lines) : [])
    end

    def function_faults(file, lines)
      CFunctions.new(lines).filter_map do |name, line, count|
        "#{file}:#{line} #{name} has #{count} lines, more than #{FUNCTION_LINES}" if count > FUNCTION_LINES
      end
    end
  end
end
