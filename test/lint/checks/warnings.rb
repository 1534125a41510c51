# frozen_string_literal: true

require "open3"
require "rbconfig"

module Lint
  # Checks that clang compiles the binding without a warning. The binding needs the headers of Ruby. gcc compiles it
  # without a warning in test/support/portable, and `make warnings` checks the core and the load tool.
  class Warnings
    DIRECTORY = "ext/bontebok"
    FLAGS = %w[-std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Werror -Wno-unused-parameter -fsyntax-only].freeze
    RUBY = RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").flat_map do |directory|
      ["-isystem", directory]
    end.freeze

    def initialize(root)
      @root = root
    end

    def faults
      files = Dir.glob("#{DIRECTORY}/**/*.c", base: @root).sort
      return [] if files.empty?

      output, status = Open3.capture2e("clang", *FLAGS, "-I#{DIRECTORY}", "-Icore/include", *RUBY, *files, chdir: @root)
      status.success? ? [] : [output]
    end
  end
end
