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

  private

  # Returns what the program prints. The umask of its process is 027.
  def run_program(text)
    %w[one two].each { |name| temp_file("#{name}/program.rb", NOTE + text) && temp_file("#{name}/word", "") }
    current = "#{temp_dir}/current"
    env = { "PWD" => current, "RUBYLIB" => "#{library}:#{current}", "RUBYOPT" => nil, "LISTEN_FDS" => "1" }
    output, status = Open3.capture2(env, RbConfig.ruby, "#{current}/program.rb", "word", chdir: current, umask: 0o27)
    assert_predicate status, :success?
    JSON.parse(output)
  end

  def library = "#{ROOT}/lib"

  def physical = File.realpath(temp_dir)
end
