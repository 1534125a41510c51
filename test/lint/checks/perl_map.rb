# frozen_string_literal: true

require_relative "object_symbols"

module Lint
  # Checks the map of the Perl binding, bbp_bontebok.h. It has a section for each C file. A file defines the
  # functions and variables that its section declares, and uses only those of sections that come before its own.
  class PerlMap
    DIRECTORY = "perl/xs"
    MAP = "bbp_bontebok.h"
    SECTION = %r{/\* ---- (\w+\.c) ---- \*/}
    # A function or a variable.
    DECLARED = /\b(bbp_\w+)(?:\((?=[^;{]*\);)|;)/
    # Bontebok.xs is above all sections.
    TOP = "Bontebok.c"

    # objects: the directory where the build puts the object files.
    def initialize(root, objects: File.join(root, DIRECTORY))
      @directory = File.join(root, DIRECTORY)
      @objects = objects
    end

    def faults
      return [] unless Dir.exist?(@directory)

      @order = [*sections.keys, TOP]
      strays + unbuilt + misplaced + upward
    end

    private

    # { C file => names that its section declares }
    def sections
      @sections ||= File.read(File.join(@directory, MAP)).split(SECTION).drop(1).each_slice(2).to_h do |file, text|
        [file, text.gsub(%r{/\*.*?\*/}m, "").scan(DECLARED).flatten]
      end
    end

    def files = Dir.glob("*.c", base: @directory).sort - [TOP]

    def strays
      (files - sections.keys).map { |file| "#{MAP} has no section for #{file}" } +
        (sections.keys - files).map { |file| "#{MAP} has a section for #{file}, which is not there" }
    end

    def unbuilt
      (files - built.values).map { |file| "#{DIRECTORY}/#{file} has no object" }
    end

    # { object => C file }
    def built
      @built ||= (files + [TOP]).to_h { |file| [File.join(@objects, file.sub(/c\z/, "o")), file] }
                                .select { |object, _| File.exist?(object) }
    end

    # [C file, symbol, true if the file defines it]
    def symbols
      @symbols ||= ObjectSymbols.read(built.keys).map { |object, name, own| [built[object], name, own] }
    end

    def misplaced
      symbols.select { |_, name, own| own && name.start_with?("bbp_") }.filter_map do |file, name, _|
        "#{file} defines #{name}, which its section in #{MAP} lacks" unless sections.fetch(file, []).include?(name)
      end
    end

    def upward
      symbols.reject { |_, _, own| own }.filter_map do |file, name, _|
        other, = sections.find { |_, names| names.include?(name) }
        "#{file} uses #{name} of #{other}, which comes later" if other && place(other) >= place(file)
      end
    end

    def place(file) = @order.index(file) || 0
  end
end
