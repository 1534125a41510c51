# frozen_string_literal: true

require "test_helper"
require "bontebok/system/code_files"

# Tests that CodeFiles knows the files that another user than root can change.
class FilesOfRootTest < Support::TestCase
  NOBODY = 65_534

  def setup
    skip "only root can make files of root" unless Process.uid.zero?
    @file = temp_file("code.rb", "")
    File.chmod(0o755, temp_dir)
    File.chmod(0o644, @file)
  end

  def test_files_of_root_in_directories_of_root
    assert_own @file
    assert_own RbConfig.ruby
  end

  def test_files_that_others_can_write
    File.chmod(0o664, @file)
    refute_own @file
    File.chmod(0o646, @file)
    refute_own @file
  end

  def test_files_of_others
    File.chown(NOBODY, nil, @file)
    refute_own @file
  end

  # Its owner can rename each file in the directory.
  def test_files_in_directories_of_others
    File.chown(NOBODY, nil, temp_dir)
    refute_own @file
    File.chown(0, nil, temp_dir)
    File.chmod(0o777, temp_dir)
    refute_own @file
    File.chmod(0o1777, temp_dir)
    assert_own @file
  end

  # Everybody can add a file, for example a library to a directory of RUBYLIB.
  def test_a_directory_in_which_everybody_can_make_files
    assert_own temp_dir
    File.chmod(0o1777, temp_dir)
    refute_own temp_dir
    link = "#{File.dirname(temp_dir)}/link-#{File.basename(temp_dir)}"
    File.symlink(temp_dir, link)
    refute_own link
    assert_own "#{link}/code.rb"
  ensure
    FileUtils.rm_f(link) if link
  end

  def test_links
    link = "#{temp_dir}/link.rb"
    File.symlink(File.basename(@file), link)
    assert_own link
    File.chown(NOBODY, nil, @file)
    refute_own link
    File.chown(0, nil, @file)
    File.lchown(NOBODY, nil, link)
    refute_own link
  end

  def test_a_missing_file
    assert_raises(Errno::ENOENT) { Bontebok::CodeFiles.roots?("#{temp_dir}/none") }
  end

  def test_a_circle_of_links
    File.symlink("circle", "#{temp_dir}/circle")
    assert_raises(Errno::ELOOP) { Bontebok::CodeFiles.roots?("#{temp_dir}/circle") }
  end

  private

  def assert_own(path)
    assert Bontebok::CodeFiles.roots?(path), path
  end

  def refute_own(path)
    refute Bontebok::CodeFiles.roots?(path), path
  end
end
