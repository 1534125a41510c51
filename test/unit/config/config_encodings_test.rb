# frozen_string_literal: true

require "test_helper"
require "bontebok/cli/cli"
require "bontebok/config/config_file"
require "bontebok/config/config_styles"
require "bontebok/workers/app_loader"

# Tests that files are UTF-8 whatever Ruby's flags say, and that a fault in a file of any encoding has its line.
class ConfigEncodingsTest < Support::TestCase
  # Ruby's flags -E and -U set this encoding.
  def test_the_default_encodings_of_ruby_do_not_matter
    under(Encoding::EUC_JP) do
      assert_equal "K\u00e4se \u2603", read("server 'K\u00e4se \u2603'")[:server].value
      path = temp_file("config.ru", "run ->(_) { 'K\u00e4se \u2603' }\n")
      assert_equal "K\u00e4se \u2603", Bontebok::AppLoader.new(path, nil).load.call({})
    end
  end

  def test_a_fault_in_a_file_with_any_line_ends_and_encoding_has_its_line
    { "threads 1\r\nbogus 1\r\n" => ":2: unknown option bogus",
      "threads 1\r\nthreads (\r\n" => /\A:2: .*syntax error/,
      "\xEF\xBB\xBFthreads 1\r\nbogus 1" => ":2: unknown option bogus",
      "# caf\xE9\nbogus 1\n" => ":2: unknown option bogus",
      "threads 1\nserver 'caf\xE9'\n" => /\A:2: .*(?:invalid multibyte char|syntax error)/,
      "# encoding: iso-8859-1\nserver 'caf\xE9'\nbogus 1\n" => ":3: unknown option bogus",
      "# encoding: latin1\nthreads 1\n" => /\A:1: .*unknown encoding name/,
      "#!/usr/bin/ruby\n# encoding: latin1\n" => /\A:2: .*unknown encoding name/,
      "#!/usr/bin/ruby\nbogus 1\n__END__\n(" => ":2: unknown option bogus" }
      .each { |text, message| assert_fault 2, message, text }
    %w[UTF-16LE UTF-16BE UTF-32LE UTF-32BE].each do |encoding|
      assert_fault 2, ":1: the file is in UTF-16 or UTF-32: save it in UTF-8", "\uFEFFthreads 1\n".encode(encoding)
    end
  end

  def test_a_text_is_written_as_it_is
    reader, writer = IO.pipe
    writer.set_encoding("ISO-8859-1:UTF-8")
    ["K\u00e4se \u2603\n", "\xFF\n", "\xFF\n".b].each do |text|
      Bontebok::Output.write(writer, text)
      assert_equal text.b, reader.gets.b
    end
  ensure
    [reader, writer].each(&:close)
  end

  def test_a_rackup_file_in_utf16_is_told
    path = temp_file("config.ru", "\uFEFFrun 1\n".encode("UTF-16LE"))
    error = assert_raises(Bontebok::StartError) { Bontebok::AppLoader.new(path, nil).check_syntax }
    assert_equal "cannot read the rackup file #{path}: the file is in UTF-16 or UTF-32: save it in UTF-8", error.message
  end

  private

  def under(encoding)
    former = Encoding.default_internal
    silently { Encoding.default_internal = encoding }
    yield
  ensure
    silently { Encoding.default_internal = former }
  end

  # Ruby warns of the change.
  def silently
    verbose = $VERBOSE
    $VERBOSE = nil
    yield
  ensure
    $VERBOSE = verbose
  end

  def read(text)
    @path = temp_file("bontebok.rb", text)
    Bontebok::ConfigFile.new(@path, style: Bontebok::ConfigStyles.of("bontebok")).entries
  end

  def assert_fault(exit_status, message, text)
    error = assert_raises(Bontebok::StartError) { read(text) }
    assert_equal [exit_status, 1], [error.exit_status, error.message.lines.size]
    assert_operator message, :===, error.message.delete_prefix(@path)
  end
end
