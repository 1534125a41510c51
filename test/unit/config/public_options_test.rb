# frozen_string_literal: true

require "test_helper"
require "bontebok/adapters/rackup_options"
require "bontebok/config/config"
require "bontebok/embedded/server_config"

# Tests the options public and public_headers: lists of directories and of lines, from each source.
class PublicOptionsTest < Support::TestCase
  HEADERS = ["/ X-Frame-Options: DENY", "/assets/ Cache-Control: public, max-age=31536000"].freeze

  def setup
    @before = Dir.pwd
    Dir.chdir(temp_dir)
  end

  def teardown
    Dir.chdir(@before)
    super
  end

  def test_there_is_none_by_default
    config = config()
    assert_equal [[], [], "", ""], [config[:public], config[:public_headers], *texts(config)]
    %i[public public_headers].each { |key| assert_equal "none", Bontebok::OptionTable[key].default_text }
  end

  # Ruby's own `public` changes the visibility of methods.
  def test_each_call_in_a_file_adds
    config = file("public 'a', '/b'\npublic ['c d']\n" \
                  "#{HEADERS.map { |line| "public_headers '#{line}'\n" }.join}public nil\n")
    assert_equal ["#{here}/a", "/b", "#{here}/c d"], config[:public]
    assert_equal HEADERS, config[:public_headers]
    assert_equal ["#{here}/a\n/b\n#{here}/c d", HEADERS.join("\n")], texts(config)
    assert_equal "#{@path}:1", config.source(:public)
  end

  def test_each_flag_adds
    config = config(public: %w[a /b/../c], public_headers: HEADERS)
    assert_equal ["#{here}/a\n/c", HEADERS.join("\n")], texts(config)
    assert_equal [], config(public: ["none"])[:public]
  end

  def test_rackup_and_embedded_servers_pass_one_or_a_list
    { "a" => ["#{here}/a"], %w[a b] => ["#{here}/a", "#{here}/b"] }.each do |value, directories|
      assert_equal directories, Bontebok::RackupOptions.new({ Public: value }, env: {}).config[:public]
      assert_equal directories, Bontebok::ServerConfig.for({ public: value })[:public]
    end
    assert_equal HEADERS.first(1), Bontebok::ServerConfig.for({ public_headers: HEADERS.first })[:public_headers]
  end

  # The link may lead to another release when a worker without preload opens the directory.
  def test_a_relative_directory_keeps_the_links_in_the_name_of_the_working_directory
    FileUtils.mkdir_p("releases/1")
    File.symlink("releases/1", "current")
    assert_equal ["#{temp_dir}/current/public"], config(directory: ["#{temp_dir}/current"], public: ["public"])[:public]
  ensure
    Bontebok::WorkingDirectory.enter(@before, "test")
  end

  def test_a_wrong_directory_is_refused
    long = "/#{"x" * 4095}"
    [":assets", "7", "true", "''", "\"a\\0b\"", "\"a\\nb\"", "'~nobody-here/x'", "'#{long}'"].each do |value|
      assert_fault(/:2: public wants directories of at most 4095 bytes in all, not /, "\npublic #{value}\n")
    end
    assert_fault(/:1: public wants a value\z/, "public\n")
  end

  def test_a_wrong_line_of_fields_is_refused
    ["assets/ A: b", "/a A", "/a A:", "/a A: ", "/a", "/aA: b", "/a A: b\\0", "/a A: b\\n/b B: c",
     "/a : b"].each do |line|
      assert_fault(%r{:1: public_headers wants lines of the form /PREFIX Name: value, of 4095 bytes in all, not },
                   "public_headers \"#{line}\"\n")
    end
  end

  def test_all_values_together_have_a_limit
    assert_raises(Bontebok::UsageError) { config(public: ["/#{"x" * 2047}"] * 2) }
    assert_equal 4095, texts(config(public: ["/#{"x" * 2046}"] * 2)).first.bytesize
  end

  # For messages about directories that cannot be opened.
  def test_each_value_has_its_place
    config = file("public 'a'\n\npublic '/b', 'c'\n")
    { "#{here}/a" => 1, "/b" => 3, "#{here}/c" => 3, "/other" => 1 }.each do |directory, line|
      assert_equal "#{@path}:#{line}", config.place_of(directory, :public)
    end
    assert_nil config(public: ["a"]).place_of("#{here}/a", :public)
  end

  private

  # The working directory's name, as the server has it.
  def here = Bontebok::WorkingDirectory.name

  def config(**values)
    Bontebok::Config.new(values, env: {})
  end

  def file(text)
    config(config_file: [@path = temp_file("c.rb", text)])
  end

  # The settings of the core.
  def texts(config) = config.core_settings.values_at(:public, :public_headers)

  def assert_fault(pattern, text)
    assert_match(pattern, assert_raises(Bontebok::UsageError) { file(text) }.message)
  end
end
