# frozen_string_literal: true

require "test_helper"
require "support/runner/style"

# Tests which files bin/test gives to RuboCop. A script stands in for RuboCop.
class StyleTest < Support::TestCase
  RUBOCOP = <<~SH
    #!/bin/sh
    case $1 in --list*) ls *.rb; exit;; esac
    echo "$@" >>"$0.calls"
    [ ! -e "$0.edit" ] || . "$0.edit"
    exit $(cat "$0.status")
  SH

  def setup
    @rubocop = temp_file("rubocop", RUBOCOP)
    File.chmod(0o755, @rubocop)
    rubocop_exits_with 0
    %w[here there].each { |name| checkout(name) }
  end

  def test_a_file_without_a_fault_is_checked_once_in_all_checkouts
    assert_equal ["a.rb b.rb"], checked("here")
    assert_empty checked("here")
    assert_empty checked("there")
    assert_equal [true, true], [@passed, File.stat(notes.first).mode.nobits?(0o022)]
  end

  def test_a_changed_file_is_checked
    checked("here")
    temp_file("there/b.rb", "changed")
    temp_file("there/c.rb", "a")
    File.chmod(0o755, File.join(temp_dir, "there/a.rb"))
    assert_equal ["a.rb b.rb c.rb"], checked("there")
    assert_empty checked("here")
  end

  # RuboCop has perhaps not seen the text that the file had before.
  def test_a_file_that_changes_during_the_check_has_no_note
    edit = temp_file("rubocop.edit", "echo changed >b.rb")
    checked("here")
    File.unlink(edit)
    assert_equal ["b.rb"], checked("here")
    assert_equal ["b.rb"], checked("there")
  end

  def test_a_changed_rule_or_version_makes_all_files_doubtful
    checked("here")
    %w[.rubocop.yml Gemfile.lock].each do |name|
      temp_file("here/#{name}", "changed")
      assert_equal ["a.rb b.rb"], checked("here"), name
    end
  end

  def test_files_are_checked_again_after_a_fault
    rubocop_exits_with 1
    2.times { assert_equal [["a.rb b.rb"], false], [checked("here"), @passed] }
  end

  def test_a_rubocop_that_does_not_start_is_a_fault
    temp_file("rubocop", "#!/bin/sh\nexit 2\n")
    assert_equal [[], false], [checked("here"), @passed]
  end

  def test_without_a_cache_directory_all_files_are_checked
    2.times { assert_equal ["a.rb b.rb"], checked("here", directory: nil) }
    _, error = capture_io { assert_equal ["a.rb b.rb"], checked("here", directory: File.join(@rubocop, "x")) }
    assert_match(/checks all files: /, error)
    assert @passed
  end

  def test_unused_notes_are_removed
    checked("here")
    File.utime(*([Time.now - Runner::Style::UNUSED - 10] * 2), unused = notes.first)
    temp_file("here/Gemfile.lock", "changed")
    checked("here")
    assert_equal [1, false], [notes.size, File.exist?(unused)]
  end

  private

  def rubocop_exits_with(status) = temp_file("rubocop.status", status.to_s)

  def checkout(name)
    { "a.rb" => "a", "b.rb" => "b", ".rubocop.yml" => "rules", "Gemfile.lock" => "rubocop 1" }
      .each { |path, text| temp_file("#{name}/#{path}", text) }
  end

  # Returns the arguments of each call of RuboCop that checks files.
  def checked(name, directory: File.join(temp_dir, "notes"))
    calls = temp_file("rubocop.calls")
    style = Runner::Style.new(File.join(temp_dir, name), directory: directory, rubocop: [@rubocop])
    _, error = capture_io { @passed = style.call }
    warn error unless error.empty?
    File.readlines(calls, chomp: true)
  end

  def notes = Dir.glob(File.join(temp_dir, "notes/*"))
end
