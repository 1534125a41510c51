# frozen_string_literal: true

require "open3"
require "rbconfig"

module Lint
  # Checks that the binding and the load tool compile without a warning. `make warnings` checks the core. The binding
  # needs the headers of Ruby.
  class Warnings
    COMPILERS = %w[gcc clang].freeze
    FLAGS = %w[-std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Werror -Wno-unused-parameter -fsyntax-only].freeze
    RUBY = RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").flat_map do |directory|
      ["-isystem", directory]
    end.freeze
    PARTS = { "ext/bontebok" => ["-Icore/include", *RUBY], "load/src" => ["-Icore/src"] }.freeze

    def initialize(root)
      @root = root
    end

    def faults
      COMPILERS.product(PARTS.to_a).flat_map do |compiler, (directory, includes)|
        files = Dir.glob("#{directory}/**/*.c", base: @root).sort
        files.empty? ? [] : compile(compiler, "-I#{directory}", *includes, *files)
      end
    end

    private

    def compile(compiler, *arguments)
      output, status = Open3.capture2e(compiler, *FLAGS, *arguments, chdir: @root)
      status.success? ? [] : ["#{compiler}: #{output}"]
    end
  end
end
