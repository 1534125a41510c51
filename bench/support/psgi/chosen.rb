# frozen_string_literal: true

require_relative "contestants"
require_relative "gazelle"
require_relative "ours"
require_relative "perl"

module Bench
  module Psgi
    # The contestants that can be measured here. Prints why others are left out.
    class Chosen
      include Enumerable

      # names: nil means all. gazelle, picohttpparser: directories with the sources of Gazelle, or nil. feersum: a
      # directory in which Feersum was built; nil: the version that is installed.
      def initialize(names, gazelle:, picohttpparser:, feersum:)
        unknown = [*names] - CONTESTANTS.keys
        abort("no such name: #{unknown.first}; there are #{CONTESTANTS.keys.join(', ')}") if unknown.any?
        @contestants = CONTESTANTS.values.select { |contestant| names.nil? || names.include?(contestant.name) }
        @gazelle = gazelle
        @picohttpparser = picohttpparser
        @feersum = feersum
        @libs = { OURS => Ours::LIBS, GAZELLE => [Gazelle::LIB],
                  FEERSUM => feersum && %w[lib arch].map { |part| File.join(feersum, "blib", part) } }
        @titles = {}
        @contestants = @contestants.select { |contestant| usable?(contestant) }
      end

      def each(&block) = @contestants.each(&block)
      # The name with the version.
      def title(name) = @titles.fetch(name)
      def env(contestant) = contestant.env([*@libs[contestant.name]])

      private

      def usable?(contestant)
        fault = build_fault(contestant.name) || missing(contestant)
        puts "left out: #{contestant.name}: #{fault}" if fault
        fault.nil?
      end

      def build_fault(name)
        case name
        when GAZELLE then Gazelle.fault(@gazelle, @picohttpparser)
        when OURS then Ours.fault
        when FEERSUM then "#{@feersum} has no blib" unless @feersum.nil? || Dir.exist?(File.join(@feersum, "blib"))
        end
      end

      # Why a module of the contestant does not load, or nil.
      def missing(contestant)
        versions = Perl.versions(env(contestant), contestant.modules)
        @titles[contestant.name] = [contestant.name, *versions.values.first(1) - [Perl::UNKNOWN]].join(" ")
        absent = contestant.modules.select { |name| versions[name] == Perl::MISSING }
        return if absent.empty?

        packages = absent.filter_map { |name| PACKAGES[name] }
        packages.any? ? "install #{packages.join(' ')}" : "#{absent.join(', ')} does not load"
      end
    end
  end
end
