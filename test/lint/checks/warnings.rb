# frozen_string_literal: true

require "open3"
require "rbconfig"
require_relative "files"

module Lint
  # Checks that clang compiles the bindings without a warning. They need the headers of their languages. gcc compiles
  # them without a warning in test/support/portable and perl/xt/dist.t, and `make warnings` checks the core and the load
  # tool.
  class Warnings
    FLAGS = %w[-std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Werror -Wno-unused-parameter -fsyntax-only].freeze
    RUBY = RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").flat_map do |directory|
      ["-isystem", directory]
    end.freeze

    # The flags that perl itself was compiled with, and the directory of its headers.
    def self.perl
      program = 'print "$Config{ccflags} -isystem $Config{archlibexp}/CORE"'
      @perl ||= Open3.capture2("perl", "-MConfig", "-e", program).first.split
    end

    def initialize(root)
      @root = root
    end

    def faults
      faults_of("ext/bontebok", RUBY) + faults_of("perl/xs", Warnings.perl)
    end

    private

    def faults_of(directory, flags)
      files = Files.glob(@root, "#{directory}/**/*.c")
      return [] if files.empty?

      output, status = Open3.capture2e("clang", *FLAGS, "-I#{directory}", "-Icore/include", *flags, *files,
                                       chdir: @root)
      status.success? ? [] : [output]
    end
  end
end
