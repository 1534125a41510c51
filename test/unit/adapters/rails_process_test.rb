# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"

# Tests RailsProcess in a process of its own, because a process notes its command once.
class RailsProcessTest < Support::TestCase
  # The program that is executed again.
  RAILS = <<~RUBY
    require "json"
    puts JSON.generate({ words: ARGV, directory: Dir.pwd, gemfile: ENV["BUNDLE_GEMFILE"], later: ENV["LATER"] })
  RUBY
  # The process of `rails server`. A daemon of Rack 2 runs in /.
  SERVER = <<~'RUBY'
    require "bontebok/adapters/rails_process"
    Rails = Struct.new(:root).new(Dir.pwd)
    Dir.chdir("/")
    command = "bin/rails server #{(ARGV - ['--restart']).join(' ')} --restart"
    Bontebok::RailsProcess.prepare({ restart_cmd: command })
    abort "no command" unless Bontebok::StartCommand.noted?
    Bontebok::StartCommand.execute({})
  RUBY
  # What Bundler does: the Gemfile is in ENV, and not in the environment of the start.
  BUNDLER = <<~RUBY
    module Bundler
      START = ENV.to_h
      def self.original_env = START.dup
    end
    ENV.update("BUNDLE_GEMFILE" => "Gemfile.other", "LATER" => "set by the application")
  RUBY

  def setup
    FileUtils.mkdir("#{temp_dir}/bin")
  end

  def test_the_command_is_executed_in_the_root_of_the_application
    assert_equal({ "words" => %w[server --restart], "directory" => File.realpath(temp_dir), "gemfile" => nil,
                   "later" => nil }, restart)
  end

  def test_arguments_with_spaces
    arguments = ["-P", "a b.pid", "-p", "3000"]
    assert_equal ["server", *arguments, "--restart"], restart(*arguments)["words"]
    assert_equal ["server", *arguments, "--restart"], restart(*arguments, "--restart")["words"]
  end

  def test_the_environment_is_that_of_the_start_with_the_gemfile
    assert_equal ["Gemfile.other", nil], restart(before: BUNDLER).values_at("gemfile", "later")
  end

  def test_without_the_program_there_is_no_command
    _, message, status = run_server("")
    assert_equal ["no command\n", false], [message, status.success?]
  end

  private

  # Returns what the executed program sees.
  def restart(*arguments, before: "")
    temp_file("bin/rails", RAILS)
    output, message, status = run_server(before, *arguments)
    assert_predicate status, :success?, message
    JSON.parse(output)
  end

  def run_server(before, *arguments)
    env = { "RUBYOPT" => nil, "BUNDLE_GEMFILE" => nil, "RUBYLIB" => "#{ROOT}/lib" }
    program = temp_file("server.rb", before + SERVER)
    Open3.capture3(env, RbConfig.ruby, program, *arguments, chdir: temp_dir)
  end
end
