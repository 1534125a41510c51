# frozen_string_literal: true

require "test_helper"
require "bontebok/system/error_text"

# Tests which part of a path the text blames.
class ErrorTextTest < Support::TestCase
  DENIED = Errno::EACCES.new

  def test_a_missing_directory
    assert_equal "its directory does not exist", text(Errno::ENOENT.new, "none/a")
  end

  # The link can be the file or a directory above it, such as tmp in a release.
  def test_a_link_that_leads_nowhere
    link = File.join(temp_dir, "tmp")
    File.symlink("gone", link)
    expected = "#{link} is a link to gone, which does not exist"
    assert_equal [expected] * 3, [text(Errno::EADDRINUSE.new, "tmp"), text(Errno::ENOENT.new, "tmp/a"),
                                  text(Errno::ENOENT.new, "tmp/sockets/a")]
    assert_equal "Permission denied", text(DENIED, "tmp")
  end

  # Root may write everywhere.
  def test_a_directory_without_write_permission
    directory = File.join(temp_dir, "a")
    Dir.mkdir(directory, 0o555)
    code = "require 'bontebok/system/error_text'; print Bontebok::ErrorText.of(Errno::EACCES.new, '#{directory}/b')"
    File.chmod(0o755, temp_dir)
    under = Process.euid.zero? ? %w[setpriv --reuid nobody --clear-groups] : []
    child = Support::ChildProcess.run(*under, RbConfig.ruby, "-I", "#{ROOT}/lib", "-e", code)
    assert_equal "Permission denied: its directory is not writable", child.output.text
  end

  def test_the_kernels_text
    temp_file("a")
    assert_equal ["Permission denied", "Permission denied", "Is a directory"],
                 [text(DENIED, "a"), text(DENIED, "b"), text(Errno::EISDIR.new, "a")]
  end

  private

  def text(error, name)
    Bontebok::ErrorText.of(error, File.join(temp_dir, name))
  end
end
