# frozen_string_literal: true

require "test_helper"
require "bontebok/workers/app_loader"
require "bontebok/log/log"

# Tests how rackup files and other Ruby files are loaded. If the load fails, AppLoader raises Failed with the cause.
class AppLoaderTest < Support::TestCase
  def test_a_rackup_file_is_loaded
    app = load("config.ru", "run ->(env) { [200, {}, [__FILE__]] }")
    assert_equal [200, {}, [@path]], app.call({})
  end

  def test_no_middleware_is_added
    app = load("config.ru", "APP_OF_TEST = ->(env) { env }\nrun APP_OF_TEST")
    assert_same APP_OF_TEST, app
  end

  def test_a_ruby_file_with_a_constant_is_loaded
    app = load("loader_test_app.rb", "module LoaderTestApp\n def self.call(env) = [204, {}, []]\nend\n")
    assert_equal 204, app.call({}).first
  end

  def test_utf8_is_read_with_and_without_bom_in_any_locale
    with_external_encoding(Encoding::US_ASCII) do
      ["", "\uFEFF"].each do |mark|
        assert_equal "Käse", load("config.ru", "#{mark}run ->(env) { 'Käse' }").call({})
      end
    end
  end

  def test_the_option_line_of_rack_2_is_ignored_and_the_end_marker_ends_the_file
    app = load("config.ru", "#\\ -p 3000 -w\nrun ->(env) { __LINE__ }\n__END__\nthis is no Ruby (\n")
    assert_equal 2, app.call({})
    assert_match(/options in a line that begins with #\\ are ignored/, @log)
  end

  # The file is not run.
  def test_the_syntax_is_checked
    ["raise", "#\\ -p 1\nrun 1", "run 1\n__END__\nthis is no Ruby (\n", "next\n", "BEGIN { raise }", "\uFEFFKäse = 1",
     "unused = 1\n"].each do |text|
      assert_silent { check_syntax(text) }
    end
    error = assert_raises(Bontebok::StartError) { check_syntax("run 1\nrun (\n") }
    assert_match(/\A\S+a\.ru:[23]: syntax error/, error.message)
  end

  def test_any_exception_is_the_cause
    { "raise 'x'" => RuntimeError, "exit 3" => SystemExit, "run (" => SyntaxError, "throw :x" => UncaughtThrowError,
      "require 'no_such_file'" => LoadError, "raise Exception" => Exception, "raise NoMemoryError" => NoMemoryError,
      "raise Interrupt" => Interrupt, "def f = f\nf" => SystemStackError }.each do |text, cause|
      error = assert_raises(Bontebok::AppLoader::Failed, text) { load("config.ru", text) }
      assert_instance_of cause, error.cause
      assert_equal "the application #{@path} cannot be loaded", error.message
    end
  end

  def test_a_file_without_an_application_is_an_error
    error = assert_raises(Bontebok::AppLoader::Failed) { load("config.ru", "run 42") }
    assert_match(/Integer does not respond to call/, error.cause.message)
    assert_raises(Bontebok::AppLoader::Failed) { load("config.ru", "# nothing to run") }
  end

  # The log leaves out the backtrace lines of the server and of Rack.
  def test_errors_without_a_line_of_the_application_show_no_backtrace
    { "run 42" => "Integer does not respond to call: it is no Rack application (TypeError)",
      "# nothing" => "missing run or map statement (RuntimeError)", "run (" => "(SyntaxError)" }.each do |file, told|
      fault = assert_raises(Bontebok::AppLoader::Failed) { load("config.ru", file) }.cause
      text = IO.pipe { |reader, writer| Bontebok::Log.new(writer).error("failed", fault) || reader.readpartial(10_000) }
      assert_includes text, told
      refute_match(%r{lib/bontebok|builder\.rb}, text)
    end
  end

  # The shell has already expanded a "~" that stands for a home directory.
  def test_a_tilde_in_a_file_name_is_not_expanded
    error = assert_raises(Bontebok::StartError) { Bontebok::AppLoader.new("~nosuch.ru", nil).check }
    assert_includes error.message, "#{Dir.pwd}/~nosuch.ru"
  end

  def test_check_finds_a_missing_file_and_a_directory
    { "#{temp_dir}/missing.ru" => "No such file or directory", temp_dir => "Is a directory" }.each do |path, reason|
      error = assert_raises(Bontebok::StartError) { Bontebok::AppLoader.new(path, nil).check }
      assert_equal "cannot read the rackup file #{path}: #{reason}", error.message
    end
    Bontebok::AppLoader.new(temp_file("config.ru"), nil).check
  end

  private

  def check_syntax(text)
    Bontebok::AppLoader.new(temp_file("a.ru", text), nil).check_syntax
  end

  def load(name, text)
    @path = temp_file(name, text)
    reader, writer = IO.pipe
    Bontebok::AppLoader.new(@path, Bontebok::Log.new(writer)).load
  ensure
    text = reader.read_nonblock(65_536, exception: false)
    @log = text.is_a?(String) ? text : ""
    [reader, writer].each(&:close)
  end

  def with_external_encoding(encoding)
    former = [Encoding.default_external, $VERBOSE]
    $VERBOSE = nil
    Encoding.default_external = encoding
    yield
  ensure
    Encoding.default_external, $VERBOSE = former
  end
end
