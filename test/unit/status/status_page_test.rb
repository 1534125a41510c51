# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/shared/totals"
require "bontebok/status/snapshot"
require "bontebok/status/units"

# docs/STATUS.md has each cause and each counter.
class StatusPageTest < Minitest::Test
  ROOT = File.expand_path("../../..", __dir__)
  PAGE = File.read(File.join(ROOT, "docs/STATUS.md"))
  # Two capital words or more.
  CAUSE = /\b[A-Z]{2}[A-Z'_]*(?: [A-Z][A-Z'_]*)+/

  def test_each_cause
    rules = Dir.glob(File.join(ROOT, "lib/bontebok/status/*_rules.rb")).map { |file| File.read(file) }.join
    causes = rules.scan(CAUSE)
    assert_operator causes.size, :>, 10
    assert_empty(causes.reject { |cause| PAGE.include?(cause) })
    described = PAGE.scan(/^\| (#{CAUSE})/).flatten.grep_v(/\AALL N/)
    assert_empty(described.reject { |cause| rules.include?(cause) })
  end

  def test_the_durations_of_the_screen_are_written_as_the_command_writes_them
    found = PAGE[/^```text\n.*?^```/m].scan(/(?:thread \d|oldest|waited|p50|p99) +(([\d.]+) (m?s))\b/)
    assert_operator found.size, :>, 5
    found.each do |text, number, unit|
      assert_equal text, Bontebok::Status::Units.duration(number.to_f / (unit == "s" ? 1 : 1000))
    end
  end

  def test_each_counter
    names = Bontebok::Status::Snapshot.new.totals.keys
    assert_empty(names.reject { |name| PAGE.match?(/^\|[^|]*`#{name}`/) })
    words = [*Bontebok::Totals::ENDS, *Bontebok::Totals::DEPLOYS].map { |name, _| "`#{name}`" }
    assert_empty(words.reject { |word| PAGE.include?(word) })
  end
end
