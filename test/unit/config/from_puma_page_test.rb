# frozen_string_literal: true

require "test_helper"
require "bontebok/cli/check"

# The examples of docs/FROM_PUMA.md.
class FromPumaPageTest < Support::TestCase
  PAGE = File.read(File.join(ROOT, "docs/FROM_PUMA.md"), encoding: "UTF-8")
  # The lines that `rails new` writes, at the places that the page shows.
  RAILS = { 24 => "threads 3, 3", 27 => "port 3000", 30 => "plugin :tmp_restart" }.freeze

  def test_the_file_is_valid
    path = temp_file("bontebok.rb", PAGE[/^```ruby\n(listen.*?)```$/m, 1])
    config = Bontebok::Config.new({ config_file: [path] }, env: {})
    keys = %i[max_workers threads request_timeout health_paths]
    assert_equal([2, 3, 30_000, ["/up"]], keys.map { |key| config[key] })
  end

  def test_the_check_prints_the_lines_of_the_page
    temp_file("config/puma.rb", Array.new(30) { |line| "#{RAILS[line + 1]}\n" }.join)
    check = ->(_) { Bontebok::Check.new({ config_file: ["config/puma.rb"] }, notes: []).run }
    out, = capture_io { Dir.chdir(temp_dir, &check) }
    rows = PAGE[/^```\n(listen .*?)```$/m, 1].lines.map { |line| line.split(/ {2,}/).map(&:strip) }
    assert_equal 4, rows.size
    assert_empty rows - out.lines.map { |line| line.split(/ {2,}/).map(&:strip) }
  end
end
