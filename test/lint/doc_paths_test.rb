# frozen_string_literal: true

require_relative "checks"

class DocPathsTest < Lint::TestCase
  def test_every_path_in_the_documents_exists
    assert_clean Lint::DocPaths
  end

  def test_dead_paths_and_links_are_reported
    text = "see `lib/gone.rb`,\n[b](B.md) and [c](../C.md), core/src/*.x too.\n"
    found = faults(Lint::DocPaths, "docs/A.md" => text, "docs/B.md" => "")
    assert_equal ["docs/A.md:1 names lib/gone.rb", "docs/A.md:2 names core/src/*.x", "docs/A.md:2 names ../C.md"], found
  end

  def test_text_that_is_no_path_of_this_repository_is_not_reported
    text = "/srv/lib/x.rb https://a.example/docs/x.md core/test/<module>_test.c `bin/run`, lib/{a,b}.rb " \
           "[x](https://a.example/y.md) [z](#below) core/.\n"
    assert_empty faults(Lint::DocPaths, "README.md" => text, "bin/run" => "", "lib/a.rb" => "", "core/test/x" => "")
  end
end
