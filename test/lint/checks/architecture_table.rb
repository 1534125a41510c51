# frozen_string_literal: true

require_relative "layer_table"

module Lint
  # The table of layers that people read says of the core what the one says that the checks use.
  class ArchitectureTable
    DOCUMENT = "docs/ARCHITECTURE.md"
    ROW = %r{^\| (\w+) \| `core/src`: `([^`]+)` \|}

    def initialize(root)
      @root = root
    end

    def faults
      written = written_modules
      checked = checked_modules
      (written.keys | checked.keys).flat_map do |layer|
        in_document = written.fetch(layer, [])
        in_table = checked.fetch(layer, [])
        (in_document - in_table).map { |name| "#{DOCUMENT} has #{name} in layer #{layer}, LayerTable has not" } +
          (in_table - in_document).map { |name| "#{DOCUMENT} lacks #{name} in layer #{layer}" }
      end
    end

    private

    def written_modules
      File.read(File.join(@root, DOCUMENT)).scan(ROW).to_h { |layer, modules| [layer, modules.split] }
    end

    # Without what is planned and not there yet.
    def checked_modules
      LayerTable::CORE.to_h do |name, layer|
        [name.to_s, layer.modules.select { |pattern| Dir.glob("core/src/#{pattern}.c", base: @root).any? }]
      end
    end
  end
end
