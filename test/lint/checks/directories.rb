# frozen_string_literal: true

require_relative "files"

module Lint
  # Checks three rules. A directory has at most FILES source files. Each directory of EXPLAINED has a README or a Ruby
  # file of the same name. Each directory of tests has the name of the directory that it tests.
  class Directories
    FILES = 24
    SOURCES = "**/*.{c,h,rb,xs,pm,t,PL}"
    # The Ruby file is beside the directory: option_table.rb explains option_table/.
    EXPLAINED = "{core/src/*,lib/bontebok/**/*,core/test,ext/bontebok/**,perl,perl/xs,load/src,bench}/"
    # { directory of tests => [directory of sources, directories of tests that have no directory of sources] }
    MIRRORS = { "core/test" => ["core/src", %w[model requests support]],
                "test/unit" => ["lib/bontebok", %w[support support/runner support/workers]] }.freeze

    def initialize(root)
      @root = root
    end

    def faults
      crowded + unexplained + MIRRORS.flat_map { |tests, (sources, others)| strays(tests, sources, others) }
    end

    private

    def crowded
      counts = Files.glob(@root, SOURCES).map { |file| File.dirname(file) }.tally
      counts.select { |_, count| count > FILES }.sort
            .map { |directory, count| "#{directory} has #{count} files, more than #{FILES}" }
    end

    def unexplained
      Dir.glob(EXPLAINED, base: @root).sort.filter_map do |directory|
        path = File.join(@root, directory)
        "#{directory} has no README.md" unless File.exist?("#{path}README.md") || File.exist?("#{path.chomp("/")}.rb")
      end
    end

    def strays(tests, sources, others)
      found = Dir.glob("**/", base: File.join(@root, tests)).map { |directory| directory.chomp("/") }
      (found - [""]).sort.filter_map do |directory|
        next if others.include?(directory) || others.include?(directory.split("/").first)

        "#{tests}/#{directory} tests no directory of #{sources}" unless Dir.exist?(File.join(@root, sources, directory))
      end
    end
  end
end
