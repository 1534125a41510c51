# frozen_string_literal: true

require_relative "checks"

class ArchitectureTest < Lint::TestCase
  DOCUMENT = Lint::ArchitectureTable::DOCUMENT

  # Of two layers; h1_* are in neither.
  CORE = { "core/src/buf.c" => "", "core/src/clock.c" => "", "core/src/sock.c" => "" }.freeze
  BYTES = "| bytes | `core/src`: `buf clock` | libc | sockets |\n"
  SYSTEM = "| system | `core/src`: `sock` | bytes | HTTP |\n"

  def test_its_table_of_layers_is_the_one_that_is_checked
    assert_clean Lint::ArchitectureTable
  end

  def test_allows_the_order_that_reads_best
    assert_empty found("#{SYSTEM}| bytes | `core/src`: `clock buf` | libc | sockets |\n")
  end

  def test_refuses_a_file_that_is_not_written_down
    assert_equal ["#{DOCUMENT} lacks clock in layer bytes"], found(SYSTEM + BYTES.sub("buf clock", "buf"))
  end

  def test_refuses_a_layer_that_is_not_written_down
    assert_equal ["#{DOCUMENT} lacks sock in layer system"], found(BYTES)
  end

  def test_refuses_a_file_in_another_layer
    assert_equal ["#{DOCUMENT} has clock in layer system, LayerTable has not",
                  "#{DOCUMENT} lacks clock in layer bytes"],
                 found(SYSTEM.sub("sock", "sock clock") + BYTES.sub("buf clock", "buf"))
  end

  def test_refuses_what_is_gone_or_no_layer
    assert_equal ["#{DOCUMENT} has poller in layer system, LayerTable has not",
                  "#{DOCUMENT} has buf in layer bits, LayerTable has not"],
                 found(SYSTEM.sub("sock", "sock poller") + BYTES + BYTES.sub("bytes", "bits").sub("buf clock", "buf"))
  end

  private

  def found(table)
    faults(Lint::ArchitectureTable, CORE.merge(DOCUMENT => "# Architecture\n\n#{table}"))
  end
end
