# frozen_string_literal: true

require_relative "checks"

class ArchitectureTest < Lint::TestCase
  DOCUMENT = Lint::ArchitectureTable::DOCUMENT
  ROWS = File.readlines(File.join(ROOT, DOCUMENT)).grep(Lint::ArchitectureTable::ROW).freeze

  def test_the_table_in_the_document_equals_layer_table
    assert_clean Lint::ArchitectureTable
  end

  def test_a_layer_that_the_document_lacks_is_reported
    assert_equal ["#{DOCUMENT} lacks layer base"], found(ROWS.drop(1))
  end

  def test_a_layer_that_only_the_document_has_is_reported
    assert_equal ["#{DOCUMENT} has layer bits, LayerTable has not"],
                 found(["| bits | `core/src/bits` | `base` | sockets |\n", *ROWS])
  end

  def test_a_different_order_of_the_layers_is_reported
    assert_equal ["#{DOCUMENT} has the layers in another order than LayerTable"], found(ROWS.reverse)
  end

  def test_a_different_rule_for_a_layer_is_reported
    assert_equal ["#{DOCUMENT} says that http may use base system"],
                 found(ROWS.map { |row| row.sub(/\A(\| http \|.*?) `base`/, '\1 `base system`') })
  end

  private

  def found(rows)
    faults(Lint::ArchitectureTable, DOCUMENT => "# Architecture\n\n#{rows.join}")
  end
end
