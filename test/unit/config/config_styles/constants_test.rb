# frozen_string_literal: true

require "open3"
require "test_helper"

# A file for another server uses constants of libraries that this server has loaded. Each test starts a process of its
# own, because the test has loaded most libraries itself.
class ConfigStylesConstantsTest < Support::TestCase
  HEAD = "require 'bontebok/config/config_file'\nrequire 'bontebok/config/config_styles'\n"
  OF_UNICORN = %w[CGI Date DateTime ERB Fcntl OptionParser Rack Set StringScanner URI].freeze

  def test_a_file_for_puma_has_the_constants_that_puma_has_loaded
    assert_equal "Set OptionParser OptParse Open3", used("Puma", %w[Set OptionParser OptParse Open3])
  end

  def test_a_file_for_unicorn_has_the_constants_that_unicorn_has_loaded
    assert_equal OF_UNICORN.join(" "), used("Unicorn", OF_UNICORN)
  end

  def test_a_file_for_pitchfork_has_the_constants_that_pitchfork_has_loaded
    assert_equal OF_UNICORN.join(" "), used("Pitchfork", OF_UNICORN)
  end

  # A library may define a method with the name of its constant, and methods of Ruby's own classes.
  def test_the_file_can_call_methods_of_these_libraries
    %w[Unicorn Pitchfork].each do |style|
      assert_equal "a.example", run_ruby(style, "$stdout.print URI('http://a.example/').host"), style
      assert_equal "1970", run_ruby(style, "$stdout.print Time.at(0).utc.iso8601[0, 4]"), style
    end
    assert_match(/rb:1: unknown option Set/, run_ruby("Unicorn", "Set(1)"))
  end

  # The libraries would make every start slower.
  def test_a_library_is_loaded_only_if_the_file_uses_it
    %w[Puma Unicorn Pitchfork].each do |style|
      assert_equal "[]", run_ruby(style, "", "p $LOADED_FEATURES.grep(/(optparse|open3|erb|rack).rb$/)"), style
    end
  end

  def test_a_library_that_is_missing_is_a_fault_of_its_line
    temp_file("lib/optparse.rb", "raise LoadError, 'cannot load such file -- optparse'")
    assert_includes run_ruby("Puma", "\nOptionParser"), "config.rb:2: cannot load such file -- optparse (LoadError) ("
  end

  private

  # Returns the names up to the first constant that is missing.
  def used(style, names)
    run_ruby(style, names.map { |name| "#{name}\n$stdout.print('#{name} ')\n" }.join)
  end

  # Reads a file with this text, then runs `code`. Returns what the process prints.
  def run_ruby(style, text, code = "")
    path = temp_file("config.rb", text)
    script = "#{HEAD}Bontebok::ConfigFile.new(ARGV[0], style: Bontebok::ConfigStyles.of('#{style.downcase}'))\n#{code}"
    output, = Open3.capture2e(RbConfig.ruby, "-I#{temp_dir}/lib", "-Ilib", "-e", script, path)
    output.strip
  end
end
