# frozen_string_literal: true

require_relative "checks"

# docs/LOGS.md lists the reasons of core/src/base/reason.h.
class ReasonsTest < Minitest::Test
  REASON = /^ +X\(\w+, "(\w+)", (\d+), BY_\w+, "([^"]+)"\)/

  def test_the_document_lists_each_reason
    header = File.read(File.join(ROOT, "core/src/base/reason.h")).gsub(/ *\\\n +"/, ' "')
    rows = header.scan(REASON).map { |name, status, text| "| `#{name}` | #{status == "0" ? "-" : status} | #{text} |" }
    assert_operator rows.size, :>, 40
    assert_includes File.read(File.join(ROOT, "docs/LOGS.md")), "|---|---|---|\n#{rows.join("\n")}\n\n"
  end
end
