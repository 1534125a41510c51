# frozen_string_literal: true

require_relative "checks"

class DirectoriesTest < Lint::TestCase
  def test_this_tree_follows_the_rules
    assert_clean Lint::Directories
  end

  def test_a_directory_of_25_files_is_reported
    files = Array.new(25) { |i| ["test/conform/a#{i}.rb", ""] }.to_h
    assert_equal ["test/conform has 25 files, more than 24"], faults(Lint::Directories, files)
  end

  def test_built_files_do_not_count
    assert_empty faults(Lint::Directories, Array.new(25) { |i| ["core/build/a#{i}.c", ""] }.to_h)
    assert_equal ["perl/ has no README.md"],
                 faults(Lint::Directories, Array.new(25) { |i| ["perl/blib/a#{i}.pm", ""] }.to_h)
  end

  def test_a_directory_without_a_readme_is_reported
    found = faults(Lint::Directories, "core/src/http/a.c" => "", "lib/bontebok/log/a.rb" => "")
    assert_equal ["core/src/http/ has no README.md", "lib/bontebok/log/ has no README.md"], found
  end

  def test_a_ruby_file_of_the_same_name_explains_a_directory
    assert_empty faults(Lint::Directories, "lib/bontebok/log/README.md" => "", "lib/bontebok/log/formats.rb" => "",
                                           "lib/bontebok/log/formats/json.rb" => "")
  end

  def test_a_test_directory_without_a_source_directory_is_reported
    found = faults(Lint::Directories, "test/unit/gone/a_test.rb" => "", "core/test/gone/a_test.c" => "",
                                      "core/test/README.md" => "", "test/unit/support/a_test.rb" => "")
    assert_equal ["core/test/gone tests no directory of core/src",
                  "test/unit/gone tests no directory of lib/bontebok"], found
  end
end
