# frozen_string_literal: true

require_relative "checks"

class SectionCommentsTest < Lint::TestCase
  def test_sections_of_this_tree_open_with_one_line
    assert_empty Lint::SectionComments.new(ROOT).faults
  end

  BAD = {
    "wrapped by clang-format" => "/* ---- the head #{"-" * 90}\n */\n",
    "on three lines" => "/*\n * int x;\n */\n/* ----\n * the head\n * ---- */\n",
    "without words" => "/* ---- ---- */\n",
    "of another length" => "/* ------- the head ------- */\n",
    "of other signs" => "/* ==== the head ==== */\n",
    "a box" => "/**********\n * the head\n **********/\n"
  }.freeze

  BAD.each do |what, text|
    define_method("test_a_wrong_section_comment_is_reported_#{what.tr(" ", "_")}") do
      line = what == "on three lines" ? 5 : 2
      assert_equal ["core/src/a.c:#{line} is no /* ---- section ---- */"],
                   faults(Lint::SectionComments, "core/src/a.c" => "int a;\n#{text}int b;\n")
    end
  end

  def test_sections_drawings_and_other_comments_are_not_reported
    text = "/* ---- uri-host [ \":\" port ] ---- */\n/** a - b */\n/* a\n * ------> b\n */\nint a; /* b ---- c */\n"
    assert_empty faults(Lint::SectionComments, "core/include/a.h" => text, "load/build/b.c" => BAD.fetch("a box"))
  end
end
