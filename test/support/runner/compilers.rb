# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require "shellwords"

module Runner
  # Counts how often a job calls a compiler: to compile, to link or to check. In front of PATH there is a script for
  # each compiler. It notes the call, whichever program makes it, and becomes the compiler.
  module Compilers
    # The environment variable that names the file with one byte for each call.
    FILE = "BONTEBOK_TEST_COMPILERS"
    NAMES = %w[cc c++ gcc g++ clang clang++ musl-gcc aarch64-linux-gnu-gcc]
            .union(RbConfig::CONFIG.values_at("CC", "CXX").compact.map { |command| command[/\S+/] }).freeze
    # A compiler that calls another compiler counts once.
    SCRIPT = <<~SH.freeze
      #!/bin/sh
      [ -z "$#{FILE}" ] || echo >>"$#{FILE}"
      unset #{FILE}
      exec %s "$@"
    SH

    class << self
      # The environment of a job, in which calls are counted in the file. The scripts are beside the file.
      def env(file)
        directory = File.expand_path("compilers", File.dirname(file))
        install(directory) unless File.exist?(directory)
        { FILE => File.expand_path(file), "PATH" => "#{directory}:#{ENV.fetch("PATH")}" }
      end

      def calls(file) = File.exist?(file) ? File.size(file) : 0

      private

      def install(directory)
        FileUtils.mkdir_p(directory)
        NAMES.each do |name|
          compiler = find(name) or next
          File.write(File.join(directory, name), format(SCRIPT, compiler.shellescape), perm: 0o755)
        end
      end

      def find(name)
        paths = ENV.fetch("PATH").split(":").map { |directory| File.join(directory, name) }
        paths.find { |path| File.file?(path) && File.executable?(path) }
      end
    end
  end
end
