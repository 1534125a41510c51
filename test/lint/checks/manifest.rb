# frozen_string_literal: true

require "open3"

module Lint
  # Checks that the gemspec packs all files that a build or the server needs, and no built files.
  class Manifest
    NEEDED = "{lib/**/*.rb,exe/*,ext/**/*.{rb,c,h},core/include/*.h,core/src/**/*.{c,h},load/src/**/*.{c,h},LICENSE}"
    BUILT = /\.(so|o|a|log)\z|Makefile\z|bontebok-bench\z/

    # files: the packed files; by default those of the gemspec.
    def initialize(root, files: nil)
      @root = root
      @files = files || Gem::Specification.load(File.join(root, "bontebok.gemspec")).files
    end

    def faults
      needed = Dir.glob(NEEDED, base: @root)
      (needed - @files).map { |file| "#{file} is needed and not packed" } +
        @files.grep(BUILT).map { |file| "#{file} is a built file, but the gem packs it" } +
        @files.reject { |file| File.file?(File.join(@root, file)) }.map { |file| "#{file} is packed and not there" }
    end
  end
end
