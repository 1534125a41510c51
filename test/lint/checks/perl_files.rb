# frozen_string_literal: true

require "open3"
require_relative "files"

module Lint
  # Checks the files in Perl. Each begins with strict and warnings. perl compiles each without a warning. A module of
  # perl/lib uses only modules of the distribution, of Plack, and those that come with Perl 5.16.
  class PerlFiles
    FILES = ["perl/**/*.{pm,t,PL}", "test/**/*.pm"].freeze
    PATHS = %w[-Iperl/blib/lib -Iperl/blib/arch -Iperl/t/lib].freeze
    BEGINNING = /\A(package [\w:]+;|use 5\.016;)*use strict;use warnings;/
    USE = /^\s*(?:use|require)\s+([A-Za-z][\w:]*)/
    # Prints the names that Perl 5.16 lacks.
    CORE = "print map { qq{$_\\n} } grep { !Module::CoreList->is_core($_, undef, 5.016) } @ARGV"

    def initialize(root)
      @root = root
      @files = Files.glob(root, FILES)
    end

    def faults
      careless + warned + foreign
    end

    private

    def careless
      @files.reject { |file| statements(file).match?(BEGINNING) }
            .map { |file| "#{file} does not begin with use strict; use warnings;" }
    end

    # The text without comments and blank lines.
    def statements(file)
      read(file).lines.grep_v(/\A\s*(#|\z)/).map { |line| line.strip.sub(/;\s+#.*/, ";") }.join
    end

    def warned
      @files.filter_map do |file|
        output, = Open3.capture2e("perl", "-wc", *PATHS, file, chdir: @root)
        "#{file}: #{output}" unless output == "#{file} syntax OK\n"
      end
    end

    def foreign
      uses = @files.grep(%r{\Aperl/lib/}).flat_map { |file| read(file).scan(USE).flatten.map { |name| [file, name] } }
      uses = uses.reject { |_, name| name.match?(/\APlack\b/) || own?(name) }.uniq
      missing, status = Open3.capture2("perl", "-MModule::CoreList", "-e", CORE, *uses.map(&:last).uniq)
      raise "perl fails" unless status.success?

      uses.select { |_, name| missing.lines(chomp: true).include?(name) }
          .map { |file, name| "#{file} uses #{name}, which does not come with Perl 5.16" }
    end

    def own?(name) = File.exist?(File.join(@root, "perl/lib/#{name.gsub("::", "/")}.pm"))

    # Without documentation.
    def read(file)
      File.read(File.join(@root, file), encoding: "UTF-8").sub(/^__END__$.*/m, "").gsub(/^=\w.*?^=cut$/m, "")
    end
  end
end
