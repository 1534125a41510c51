# frozen_string_literal: true

require "open3"

module Lint
  # The external symbols of object files, as nm prints them.
  module ObjectSymbols
    # nm's letters for undefined symbols. v and w are weak symbols.
    UNDEFINED = %w[U v w].freeze

    # Returns [object, name, defined] for each symbol. defined: true if the object defines the symbol. options: of nm.
    def self.read(objects, *options)
      return [] if objects.empty?

      output, errors, status = Open3.capture3("nm", "--extern-only", "--format=posix", "--print-file-name", *options,
                                              *objects)
      raise "nm fails: #{errors}" unless status.success?

      output.scan(/^(.*?): (\S+) (\w)\b/).map { |object, name, type| [object, name, !UNDEFINED.include?(type)] }
    end
  end
end
