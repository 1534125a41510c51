# frozen_string_literal: true

require_relative "layer_table"

module Lint
  # Checks that the table in docs/ARCHITECTURE.md equals LayerTable: the layers, their order, and the layers that each
  # layer may use.
  class ArchitectureTable
    DOCUMENT = "docs/ARCHITECTURE.md"
    ROW = %r{^\| (\w+) \| `core/src/(\w+)` \| ([^|]*) \|}

    def initialize(root)
      @root = root
    end

    def faults
      rows = File.read(File.join(@root, DOCUMENT)).scan(ROW)
      written = rows.to_h { |_name, layer, may| [layer, may.scan(/`([a-z_ ]+)`/).flatten.flat_map(&:split)] }
      checked = LayerTable::CORE.to_h { |name, layer| [name.to_s, layer.may.map(&:to_s)] }
      found = (written.keys | checked.keys).filter_map { |layer| fault(layer, written[layer], checked[layer]) }
      return found if found.any? || written.keys == checked.keys

      ["#{DOCUMENT} has the layers in another order than LayerTable"]
    end

    private

    def fault(layer, written, checked)
      return "#{DOCUMENT} lacks layer #{layer}" unless written
      return "#{DOCUMENT} has layer #{layer}, LayerTable has not" unless checked

      "#{DOCUMENT} says that #{layer} may use #{written.join(" ")}" if written.sort != checked.sort
    end
  end
end
