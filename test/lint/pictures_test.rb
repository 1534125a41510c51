# frozen_string_literal: true

require_relative "checks"
require_relative "../../bench/support/pictures/album"

# The pictures of the documents are those that bench/pictures draws from the recorded figures.
class PicturesTest < Lint::TestCase
  PICTURES = File.join(ROOT, "docs/pictures")

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
end
