# frozen_string_literal: true

require_relative "checks"

# The table that people read and the one that the checks use say the same.
class ArchitectureTest < Lint::TestCase
  ROW = %r{^\| (\w+) \| `core/src`: `([^`]+)` \|}

  def test_its_table_of_layers_is_the_one_that_is_checked
    rows = File.read(File.join(ROOT, "docs/ARCHITECTURE.md")).scan(ROW)
    written = rows.to_h { |name, files| [name, files.split.sort] }
    assert_equal checked, written
  end

  private

  # Without what is planned and not there yet.
  def checked
    Lint::LayerTable::CORE.to_h do |name, layer|
      [name.to_s, layer.modules.select { |pattern| Dir.glob("core/src/#{pattern}.c", base: ROOT).any? }.sort]
    end
  end
end
