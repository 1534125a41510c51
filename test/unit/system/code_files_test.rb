# frozen_string_literal: true

require "test_helper"
require "open3"

# Tests CodeFiles in a process of its own, because a process notes its start command once. The process starts in the
# link `current`, which leads to release 1 and then to release 2.
class CodeFilesTest < Support::TestCase
  NOBODY = 65_534
  PROGRAM = <<~RUBY
    require "bontebok/system/code_files"
    Bontebok::StartCommand.note(ARGV)
    require "./code/loaded"
    eval(ENV["BEFORE"].to_s)
    puts Bontebok::CodeFiles.changeable.inspect
  RUBY
  SWITCH = "File.unlink('../current'); File.symlink('2', '../current')"
  BUNDLER = "Bundler = Module.new"

  def setup
    skip "only root can make files of root" unless Process.uid.zero?
    File.chmod(0o755, temp_dir)
    %w[1 2].product(%w[program.rb code/loaded.rb Gemfile .bundle/config home/x]).each do |release, name|
      temp_file("#{release}/#{name}", name == "program.rb" ? PROGRAM : "")
    end
    File.symlink("1", current)
  end

  def test_all_files_belong_to_root
    assert_changeable nil, BUNDLER
    assert_changeable nil, SWITCH
  end

  def test_a_loaded_file
    give_away "1/code/loaded.rb"
    assert_changeable "#{File.realpath(temp_dir)}/1/code/loaded.rb"
  end

  def test_a_file_of_the_next_release
    give_away "2/code/loaded.rb"
    assert_changeable nil
    assert_changeable "#{current}/code/loaded.rb", SWITCH
  end

  # The former program is executed again if the new one fails.
  def test_a_file_of_the_former_release
    give_away "1/code/loaded.rb"
    assert_changeable "#{File.realpath(temp_dir)}/1/code/loaded.rb", SWITCH
    assert_changeable nil, "#{SWITCH}; File.rename('../1/code', '../1/gone')"
  end

  # The name of the directory often has the version.
  def test_the_next_release_has_another_directory
    FileUtils.mv("#{temp_dir}/2/code", "#{temp_dir}/2/code2")
    assert_changeable nil, SWITCH
    give_away "2"
    assert_changeable "#{current}/program.rb", SWITCH
  end

  def test_files_of_bundler
    %w[Gemfile .bundle/config].each do |name|
      give_away "1/#{name}"
      assert_changeable "#{current}/#{name}", BUNDLER
      File.chown(0, nil, "#{temp_dir}/1/#{name}")
    end
  end

  # Bundler looks for a Gemfile above the working directory.
  def test_a_gemfile_above_the_working_directory
    temp_file("Gemfile", "")
    give_away "Gemfile"
    assert_changeable "#{temp_dir}/Gemfile", BUNDLER
    assert_changeable nil, BUNDLER, "BUNDLE_GEMFILE" => "Gemfile"
  end

  def test_a_gemfile_with_another_name
    gemfile = temp_file("other/rails.gemfile", "")
    lock = temp_file("other/rails.gemfile.lock", "")
    give_away "other/rails.gemfile.lock"
    assert_changeable lock, BUNDLER, "BUNDLE_GEMFILE" => gemfile
  end

  # Bundler ignores the variable if it is empty.
  def test_an_empty_name_of_a_gemfile
    give_away "1/Gemfile"
    assert_changeable "#{current}/Gemfile", BUNDLER, "BUNDLE_GEMFILE" => ""
  end

  # Another user could create the directory, and a command in it.
  def test_a_missing_directory_of_path
    temp_file("other/x", "")
    path = "#{temp_dir}/other/bin:/usr/bin:/bin"
    assert_changeable nil, "", "PATH" => path
    give_away "other"
    assert_changeable "#{temp_dir}/other", "", "PATH" => path
  end

  def test_a_directory_of_the_command
    temp_file("other/x", "")
    give_away "other"
    assert_changeable "#{temp_dir}/other", "", {}, "-I#{temp_dir}/other"
  end

  # RubyGems and Bundler have settings there.
  def test_the_home_directory
    give_away "1/home"
    assert_changeable "#{current}/home", "", "HOME" => "#{current}/home"
  end

  private

  def current = "#{temp_dir}/current"

  def give_away(name)
    File.chown(NOBODY, nil, "#{temp_dir}/#{name}")
  end

  # options: of ruby.
  def assert_changeable(path, before = "", env = {}, *options)
    lead_to_the_first_release
    clean = { "PWD" => current, "RUBYLIB" => "#{ROOT}/lib", "RUBYOPT" => nil, "BUNDLE_GEMFILE" => nil, "HOME" => "/",
              "PATH" => "/usr/bin:/bin", "GEM_HOME" => nil, "GEM_PATH" => nil, "BEFORE" => before }
    output, status = Open3.capture2(clean.merge(env), RbConfig.ruby, *options, "#{current}/program.rb",
                                    chdir: current)
    assert_predicate status, :success?
    assert_equal "#{path.inspect}\n", output
  end

  def lead_to_the_first_release
    File.unlink(current)
    File.symlink("1", current)
  end
end
