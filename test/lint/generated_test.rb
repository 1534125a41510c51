# frozen_string_literal: true

require_relative "checks"
require_relative "../../bench/support/pictures/album"
require_relative "../../core/mime_types"

# Files that a program of this repository makes are as the program makes them now.
class GeneratedTest < Lint::TestCase
  PICTURES = File.join(ROOT, "docs/pictures")
  TYPES = File.read(MimeTypes::PATH)

  def test_the_pictures_show_the_recorded_figures
    drawn = Bench::Pictures.album
    kept = Dir.children(PICTURES).to_h { |file| [file, File.read(File.join(PICTURES, file))] }
    assert_equal drawn.keys.sort, kept.keys.sort
    assert_equal [], drawn.keys.reject { |file| drawn[file] == kept[file] }, "run bench/pictures"
  end

  # A figure in a picture is one that a command of this repository prints.
  def test_a_picture_names_the_command_that_measures
    JSON.parse(File.read(Bench::Pictures::RECORDED)).each_value do |picture|
      next if picture["kind"] == "phases" # has no figures

      assert_path_exists File.join(ROOT, picture.fetch("condition")[%r{bench/\w+}].to_s)
    end
  end

  # A newer Rack with the same types leaves the table as it is. An older one may lack types.
  def test_the_core_has_the_media_types_of_the_newest_rack
    version = MimeTypes.made_from(TYPES)
    skip "Rack is older than #{version}" if MimeTypes.rack_version < version

    assert_equal MimeTypes.table(version), TYPES, "run bundle exec ruby core/mime_types.rb"
  end

  def test_a_new_type_of_rack_changes_the_table
    refute_equal MimeTypes.table, MimeTypes.table(types: Rack::Mime::MIME_TYPES.merge(".css" => "text/x-new"))
  end

  def test_texts_have_a_charset
    table = MimeTypes.table(types: { ".a" => "text/a", ".b" => "application/ecmascript", ".c" => "application/json" })
    assert_includes table, %({"a", "text/a; charset=utf-8"})
    assert_includes table, %({"b", "application/ecmascript; charset=utf-8"})
    assert_includes table, %({"c", "application/json"})
  end

  def test_a_type_of_rack_comes_before_our_own
    assert_includes MimeTypes.table(types: { ".MD" => "text/x-other" }), %({"md", "text/x-other; charset=utf-8"})
  end

  def test_types_that_the_table_cannot_have_are_rejected
    bad = ["", ".", ".a\"b", ".\u00e9", ".#{"a" * 17}"].map { |extension| { extension => "text/a" } } +
          ["text", "text/a; charset=utf-8", "text/\"", ""].map { |type| { ".a" => type } } +
          [{ ".webmanifest" => "text/a", ".webmanifold" => "text/b" }]
    bad.each { |types| assert_raises(ArgumentError, types.inspect) { MimeTypes.table(types: types) } }
  end
end
