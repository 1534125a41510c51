# frozen_string_literal: true

require "open3"
require "test_helper"

# What a command loads. Each file that it does not use makes it slower.
class LoadedFilesTest < Support::TestCase
  LOADED = <<~RUBY
    former = $LOADED_FEATURES.dup
    require "bontebok/cli/serve_command"
    Bontebok::Config.new(ARGV.empty? ? {} : { config_file: ARGV })
    require "bontebok/processes/launcher"
    require "bontebok/processes/supervisor"
    puts ($LOADED_FEATURES - former)
      .grep(%r{/(fileutils|ipaddr|other_servers_flags|config_styles/\\w+)[.]rb$}) { $1 }
  RUBY

  def test_a_start_without_a_configuration_file_loads_no_style_and_no_library_that_it_does_not_use
    assert_empty loaded
  end

  def test_a_configuration_file_loads_its_own_style
    assert_equal %w[config_styles/directives config_styles/native], loaded(temp_file("app.rb", "threads 1\n")).sort
  end

  # The path of the control socket is given, so the configuration is not read.
  def test_a_command_for_a_running_server_loads_nothing_of_a_server
    files = run_ruby("require 'bontebok/cli/cli'\nBontebok::CLI.run(%w[status --control none])\nputs $LOADED_FEATURES")
    assert_includes files.join(" "), "lib/bontebok/cli/status/observed_server.rb"
    assert_empty files.grep(%r{lib/bontebok/(config/config|processes/|cli/serve_command|status/csv)})
  end

  # It is missing, or was built for another Ruby. The other commands do not load it.
  def test_a_look_at_a_server_tells_that_the_extension_cannot_be_loaded
    extension = temp_file("bontebok/bontebok.#{RbConfig::CONFIG['DLEXT']}", "x")
    script = "$LOAD_PATH.unshift(ARGV.shift)\nrequire 'bontebok/cli/cli'\nexit(Bontebok::CLI.run(ARGV))"
    %w[status top].each do |command|
      lines = run_ruby(script, temp_dir, command, "--control", "none", status: 1)
      assert_match(/\Abontebok: cannot load the extension: #{extension}: /, lines.first)
      assert_match(/\Abuild it: .*\z/, lines.drop(1).join("\n"))
    end
    assert_equal ["bontebok: the server has no control socket: `control` is none"],
                 run_ruby(script, temp_dir, "reopen", "--control", "none", status: 1)
  end

  # Puma and unicorn have loaded these libraries.
  def test_applications_have_libraries_without_a_require
    assert_equal %w[FileUtils IPAddr], run_ruby("require 'bontebok/cli/cli'\nputs [FileUtils, IPAddr]")
  end

  private

  def loaded(*arguments) = run_ruby(LOADED, *arguments)

  # Returns the lines that the process prints.
  def run_ruby(script, *arguments, status: 0)
    output, ended = Open3.capture2e(RbConfig.ruby, "-Ilib", "-e", script, *arguments)
    assert_equal status, ended.exitstatus, output
    output.lines(chomp: true)
  end
end
