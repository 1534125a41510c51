# frozen_string_literal: true

module Lint
  # The files of a tree, without built files and the directories tmp and vendor.
  module Files
    BUILT = %r{(\A|/)(build|tmp|vendor)/|\Aperl/(blib|objects|Bontebok-[^/]+)/|\Aperl/xs/Bontebok\.c\z}

    # Returns paths relative to the root, sorted. flags: see Dir.glob.
    def self.glob(root, patterns, flags = 0)
      Dir.glob(patterns, flags, base: root).grep_v(BUILT).uniq.sort
    end
  end
end
