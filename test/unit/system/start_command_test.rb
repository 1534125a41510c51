# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"

# Tests StartCommand in a process of its own, because a process notes its command once. The process starts in a
# directory that is a link, as with Capistrano.
class StartCommandTest < Support::TestCase
  NOTE = <<~RUBY
    require "bontebok/system/start_command"
    command = Bontebok::StartCommand
    command.note(ARGV)
  RUBY
  # Prints what the executed process sees, else executes the program again after a change of the link.
  AGAIN = <<~RUBY
    if ENV["AGAIN"]
      require "json"
      names = %w[AGAIN PWD RUBYLIB LISTEN_FDS LOST]
      puts JSON.generate([*ENV.values_at(*names), Dir.pwd, __FILE__, File.umask])
      exit
    end
    fixed = command.fixed
    ENV["LOST"] = "1"
    File.umask(0)
    File.unlink("../current")
    File.symlink("two", "../current")
  RUBY

  # The server has entered the link, and the directory of the start has gone.
  ELSEWHERE = <<~RUBY
    require "json"
    require "bontebok/system/start_command"
    if ENV["AGAIN"]
      puts JSON.generate([ARGV, Dir.pwd, __FILE__, *ENV.values_at("PWD", "RUBYLIB", "BUNDLE_GEMFILE")])
      exit
    end
    command = Bontebok::StartCommand
    Bundler = Module.new # it has found the Gemfile
    ENV["BUNDLE_GEMFILE"] = File.expand_path("../Gemfile")
    command.note(ARGV, paths: { 0 => "../shared.rb" })
    Dir.chdir("../current")
    command.enter(File.expand_path("../current", ENV["PWD"]))
    system("rm", "-r", "../start", *ARGV.drop(1))
    begin
      command.execute({ "AGAIN" => "yes" })
    rescue SystemCallError => e
      puts JSON.generate([e.message])
    end
  RUBY

  def setup
    %w[one two].each { |name| FileUtils.mkdir("#{temp_dir}/#{name}") }
    File.symlink("one", "#{temp_dir}/current")
  end

  def test_the_same_command_leads_to_the_new_directory
    assert_equal ["yes", "#{temp_dir}/current", "#{library}:#{temp_dir}/current", nil, nil,
                  "#{physical}/two", "#{temp_dir}/current/program.rb", 0o27],
                 run_program("#{AGAIN}command.execute({ 'AGAIN' => 'yes' })")
  end

  def test_the_former_command_leads_to_the_former_directory
    assert_equal ["yes", "#{physical}/one", "#{library}:#{physical}/one", nil, nil,
                  "#{physical}/one", "#{physical}/one/program.rb", 0o27],
                 run_program("#{AGAIN}command.execute_former(fixed, { 'AGAIN' => 'yes' })")
  end

  def test_files_with_the_program_and_the_code
    files = run_program("require 'json'\nputs JSON.generate(command.files)")
    assert_empty [RbConfig.ruby, "#{temp_dir}/current/program.rb", library, "#{temp_dir}/current"] - files
    refute_includes files, "#{temp_dir}/current/word"
    assert(files.all? { |path| File.exist?(path) })
  end

  def test_without_the_directory_of_the_start_the_command_has_full_names
    assert_equal [["-c#{temp_dir}/shared.rb"], "#{physical}/one", "#{temp_dir}/tool/program.rb", "#{temp_dir}/current",
                  "#{library}:#{temp_dir}/lib", "#{physical}/Gemfile"], run_elsewhere
  end

  # Another file must not take its place.
  def test_a_file_that_has_gone_is_named
    assert_equal ["No such file or directory - #{temp_dir}/shared.rb"], run_elsewhere("../shared.rb")
    assert_equal ["No such file or directory - #{physical}/Gemfile"], run_elsewhere("../Gemfile")
    assert_equal ["No such file or directory - #{temp_dir}/tool/program.rb"], run_elsewhere("../tool/program.rb")
    assert_equal ["No such file or directory - #{temp_dir}/current"], run_elsewhere("../current")
  end

  # The directory of the start gets the name of the link that the server has entered.
  def test_a_start_in_a_release_leads_to_the_next_release
    output = run_program(<<~RUBY, in_directory: "#{temp_dir}/one")
      if ENV["AGAIN"]
        require "json"
        puts JSON.generate([Dir.pwd, ENV["PWD"]])
        exit
      end
      Dir.chdir("../current")
      command.enter("#{temp_dir}/current")
      File.unlink("../current")
      File.symlink("two", "../current")
      system("rm", "-r", "../one")
      command.execute({ 'AGAIN' => 'yes' })
    RUBY
    assert_equal ["#{physical}/two", "#{temp_dir}/current"], output
  end

  # Ruby has followed -C before the program notes its command. The link still leads to the next release.
  def test_flags_that_change_the_directory_have_full_names
    { %w[-C current] => "two", %w[-w -C . -Ccurrent] => "two", %w[-X one] => "one" }.each do |flags, directory|
      output = run_program(<<~RUBY, in_directory: temp_dir, flags: flags)
        if ENV["AGAIN"]
          require "json"
          puts JSON.generate([Dir.pwd, $VERBOSE, ARGV])
          exit
        end
        File.unlink("../current")
        File.symlink("two", "../current")
        command.execute({ 'AGAIN' => 'yes' })
      RUBY
      assert_equal ["#{physical}/#{directory}", flags.include?("-w"), ["word"]], output
      File.unlink("#{temp_dir}/current")
      File.symlink("one", "#{temp_dir}/current")
    end
  end

  private

  # Returns what the program prints. lost: files that have gone as well.
  def run_elsewhere(*lost)
    %w[start/x lib/x shared.rb Gemfile].each { |name| temp_file(name) }
    temp_file("tool/program.rb", ELSEWHERE)
    env = { "PWD" => "#{temp_dir}/start", "RUBYLIB" => "#{library}:../lib", "RUBYOPT" => nil, "BUNDLE_GEMFILE" => nil }
    output, status = Open3.capture2(env, RbConfig.ruby, "../tool/program.rb", "-c../shared.rb", *lost,
                                    chdir: "#{temp_dir}/start")
    assert_predicate status, :success?
    JSON.parse(output)
  end

  # Returns what the program prints. The umask of its process is 027.
  def run_program(text, in_directory: "#{temp_dir}/current", flags: [])
    %w[one two].each { |name| temp_file("#{name}/program.rb", NOTE + text) && temp_file("#{name}/word", "") }
    current = "#{temp_dir}/current"
    env = { "PWD" => in_directory, "RUBYLIB" => "#{library}:#{current}", "RUBYOPT" => nil, "LISTEN_FDS" => "1" }
    output, status = Open3.capture2(env, RbConfig.ruby, *flags, "#{current}/program.rb", "word",
                                    chdir: in_directory, umask: 0o27)
    assert_predicate status, :success?
    JSON.parse(output)
  end

  def library = "#{ROOT}/lib"

  def physical = File.realpath(temp_dir)
end
