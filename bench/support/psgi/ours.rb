# frozen_string_literal: true

require "open3"
require_relative "../build"
require_relative "perl"

module Bench
  module Psgi
    # Builds our Perl binding in perl/blib, if a source is newer than all built files.
    module Ours
      SOURCES = %w[perl core/src core/include].freeze
      # make touches pm_to_blib when it has copied a module: the copy keeps the time of its source.
      BUILT = "perl/{blib/**/*,pm_to_blib}"
      LIBS = %w[lib arch].map { |part| File.join(Build::ROOT, "perl/blib", part) }.freeze

      module_function

      # nil, or why it cannot be measured.
      def fault
        return "there is no perl/Makefile.PL" unless File.exist?(File.join(Build::ROOT, "perl/Makefile.PL"))
        return if newest(Dir.glob(BUILT, base: Build::ROOT)) >= newest(sources)

        Perl.fault_of(File.join(Build::ROOT, "perl"), %w[perl Makefile.PL], %w[make])
      end

      # Without ignored files: the build leaves some in perl/.
      def sources
        output, = Open3.capture2("git", "-C", Build::ROOT, "ls-files", "-co", "--exclude-standard", *SOURCES)
        output.lines(chomp: true)
      end

      # Seconds since 1970.
      def newest(files)
        files.map { |file| File.join(Build::ROOT, file) }.select { |path| File.file?(path) }
             .map { |path| File.mtime(path).to_f }.max || 0
      end

      private_class_method :sources, :newest
    end
  end
end
