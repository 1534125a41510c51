# frozen_string_literal: true

require "fileutils"

module Interop
  # The example configurations of the gem unicorn. If the gem is not installed, `gem unpack` copies it to tmp/.
  module UnicornExamples
    HOME = File.join(ROOT, "tmp/interop")
    EXAMPLES = "unicorn-*/examples/unicorn.conf*.rb"

    class << self
      def all
        installed = Gem.path.flat_map { |path| Dir.glob(File.join(path, "gems", EXAMPLES)) }
        installed.empty? ? fetched : installed
      end

      private

      def fetched
        pattern = File.join(HOME, EXAMPLES)
        return Dir.glob(pattern) unless Dir.glob(pattern).empty?

        FileUtils.mkdir_p(HOME)
        command = %w[gem unpack unicorn --target]
        child = Support::ChildProcess.run(*command, HOME, env: { "RUBYOPT" => nil }, limit: 60)
        raise Support::Error, "gem unpack unicorn:\n#{child.output.text}" unless child.status.success?

        Dir.glob(pattern)
      end
    end
  end
end
