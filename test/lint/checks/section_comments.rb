# frozen_string_literal: true

require_relative "files"

module Lint
  # Checks that a comment that opens a section of a C file has the form /* ---- words ---- */. If the dashes filled the
  # line, clang-format would wrap the comment.
  class SectionComments
    FILES = "{core,ext,load,bench,perl}/**/*.{c,h,xs}"
    # A comment that begins with a row of signs. A row further inside a comment belongs to a drawing and does not match.
    BANNER = %r{/\*[ \t]*(?:-{3}|={3}|\*{3}|_{3}|~{3}|\#{3}).*?\*/}m
    SECTION = %r{\A/\* ---- [[:alnum:]][^\n]*[^\s-] ---- \*/\z}

    def initialize(root)
      @root = root
    end

    def faults
      Files.glob(@root, FILES).flat_map do |file|
        file_faults(file, File.read(File.join(@root, file), encoding: "UTF-8"))
      end
    end

    private

    def file_faults(file, text)
      faults = []
      text.scan(BANNER) do |banner|
        line = Regexp.last_match.pre_match.count("\n") + 1
        faults << "#{file}:#{line} is no /* ---- section ---- */" unless banner.match?(SECTION)
      end
      faults
    end
  end
end
