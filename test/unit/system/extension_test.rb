# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/system/extension"

# Tests the messages about an extension that cannot be loaded.
class ExtensionTest < Support::TestCase
  NAME = Bontebok::Extension::NAME

  # Ruby says the same about a file that is missing and a file that it is not permitted to read.
  def test_a_file_that_cannot_be_read_is_named
    file = temp_file("#{NAME}.#{RbConfig::CONFIG['DLEXT']}")
    assert_equal "cannot load the extension: no permission to read #{file}", text(NAME, [temp_dir])
  end

  def test_a_missing_file_is_not_built
    assert_equal ["cannot load the extension: it is not built", Bontebok::Extension::HELP],
                 text(NAME, [temp_dir]).lines(chomp: true)
  end

  def test_another_error_has_its_first_line
    assert_equal "cannot load the extension: libruby is missing", text(nil, []).lines(chomp: true).first
  end

  private

  # path: the file that Ruby has not found.
  def text(path, load_path)
    error = LoadError.new("libruby is missing\nmore")
    error.define_singleton_method(:path) { path }
    former = $LOAD_PATH.dup
    Bontebok::Extension.stub(:require, ->(_) { $LOAD_PATH.replace(load_path) && raise(error) }) do
      assert_raises(Bontebok::StartError) { Bontebok::Extension.load }.message
    end
  ensure
    $LOAD_PATH.replace(former)
  end
end
