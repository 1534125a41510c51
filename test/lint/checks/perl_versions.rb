# frozen_string_literal: true

require "open3"
require "tmpdir"
require_relative "files"

module Lint
  # Checks that perl/xs uses only what Perl's C API has had since OLDEST. ppport.h of Devel::PPPort knows since when it
  # has each name. ppport.h can also add a name to an older Perl, but perl/xs does not include it.
  class PerlVersions
    OLDEST = [5, 16].freeze
    SINCE = /^=== (\w+) ===\n\s+Supported at least since perl-(\d+)\.(\d+)/
    COMMENTS = %r{/\*.*?\*/}m
    # Functions of the C library, for which some builds of Perl have a macro.
    LIBC = %w[calloc].freeze

    def initialize(root)
      @root = root
    end

    def faults
      files = Files.glob(@root, "perl/xs/*.{c,h,xs}")
      return [] if files.empty?

      Dir.mktmpdir do |directory|
        ppport = File.join(directory, "ppport.h")
        perl("-MDevel::PPPort", "-e", "Devel::PPPort::WriteFile($ARGV[0])", ppport)
        complaints(ppport, files) + newer(ppport, files)
      end
    end

    private

    # --quiet would also hide the warnings.
    def complaints(ppport, files)
      perl(ppport, "--compat-version=#{OLDEST.join(".")}.0", "--nochanges", "--nohints", *files)
        .lines(chomp: true).grep(/WARNING/)
    end

    def newer(ppport, files)
      since = perl(ppport, "--api-info=/./").scan(SINCE)
      late = since.select { |_, *version| (version.map(&:to_i) <=> OLDEST).positive? }
                  .to_h { |name, *version| [name, version.join(".")] }
      files.flat_map do |file|
        names = File.read(File.join(@root, file), encoding: "UTF-8").gsub(COMMENTS, "").scan(/\w+/).uniq
        ((names & late.keys) - LIBC).map { |name| "#{file} uses #{name}, which Perl has since #{late[name]}" }
      end
    end

    def perl(*arguments)
      output, status = Open3.capture2e("perl", *arguments, chdir: @root)
      raise "perl fails: #{output}" unless status.success?

      output
    end
  end
end
