# frozen_string_literal: true

require_relative "contestants"
require_relative "gazelle"
require_relative "monoceros"
require_relative "ours"
require_relative "perl"

module Bench
  module Psgi
    # The contestants that can be measured here. Prints why others are left out.
    class Chosen
      include Enumerable

      # Options that name directories with the sources of peers. feersum: a directory in which Feersum was built;
      # without it, the version that is installed.
      SOURCES = %i[gazelle picohttpparser feersum monoceros getpeername].freeze

      # Adds the options for SOURCES to an OptionParser. Returns the hash that gets their values.
      def self.sources(parser)
        SOURCES.to_h { |name| [name, nil] }.tap do |sources|
          SOURCES.each { |name| parser.on("--#{name} DIR") { |value| sources[name] = File.expand_path(value) } }
        end
      end

      # names: nil means all. workers: see Settings. sources: { name of SOURCES => directory or nil }.
      def initialize(names, workers:, sources:)
        unknown = [*names] - CONTESTANTS.keys
        abort("no such name: #{unknown.first}; there are #{CONTESTANTS.keys.join(', ')}") if unknown.any?
        @sources = sources
        @workers = workers
        @libs = { OURS => Ours::LIBS, GAZELLE => [Gazelle::LIB], MONOCEROS => Monoceros.libs(sources[:monoceros]),
                  FEERSUM => %w[lib arch].map { |part| File.join(sources[:feersum].to_s, "blib", part) } }
        @titles = {}
        contestants = CONTESTANTS.values.select { |contestant| names.nil? || names.include?(contestant.name) }
        @contestants = contestants.select { |contestant| usable?(contestant) }
      end

      def each(&block) = @contestants.each(&block)
      # The name with the version.
      def title(name) = @titles.fetch(name)
      def env(contestant) = contestant.env([*@libs[contestant.name]])

      private

      def usable?(contestant)
        fault = contestant.fault(@workers) || build_fault(contestant.name) || missing(contestant)
        puts "left out: #{contestant.name}: #{fault}" if fault
        fault.nil?
      end

      def build_fault(name)
        case name
        when GAZELLE then Gazelle.fault(*@sources.values_at(:gazelle, :picohttpparser))
        when MONOCEROS then Monoceros.fault(*@sources.values_at(:monoceros, :getpeername))
        when OURS then Ours.fault
        when FEERSUM then feersum_fault(@sources[:feersum])
        end
      end

      def feersum_fault(directory)
        "#{directory} has no blib" unless directory.nil? || Dir.exist?(File.join(directory, "blib"))
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
