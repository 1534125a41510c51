# frozen_string_literal: true

require "open3"

module Lint
  # The external symbols of object files, as one run of nm shows them.
  module ObjectSymbols
    # Types of symbols that another object defines: U, and the weak ones.
    UNDEFINED = %w[U v w].freeze

    # Returns [object, name, defined] for each symbol. defined: this object defines it.
    def self.read(objects)
      return [] if objects.empty?

      output, status = Open3.capture2("nm", "--extern-only", "--format=posix", "--print-file-name", *objects)
      raise "nm fails" unless status.success?

      output.scan(/^(.*?): (\S+) (\w)\b/).map { |object, name, type| [object, name, !UNDEFINED.include?(type)] }
    end
  end
end
