# frozen_string_literal: true

require "test_helper"
require "bontebok/config_file"

# The configuration file: options as methods, faults with file and line.
class ConfigFileTest < Support::TestCase
  def test_options_are_methods
    entries = read("max_workers 4\nlisten '80', 'unix:@a'\nlisten '81'\nheader_timeout 0.5\npreload false\n")
    assert_equal({ max_workers: 4, listen: ["80", "unix:@a", "81"], header_timeout: 0.5, preload: false },
                 entries.transform_values(&:value))
    assert_equal ["#{@path}:1", "#{@path}:5"], [entries[:max_workers].place, entries[:preload].place]
  end

  def test_aliases
    assert_equal({ max_workers: 2 }, read("workers 2\n").transform_values(&:value))
  end

  def test_it_is_ruby
    entries = read("2.times { |i|\n threads i + 1\n}\nserver [__FILE__, __dir__].join('|')\n")
    assert_equal [2, "#{@path}|#{temp_dir}"], [entries[:threads].value, entries[:server].value]
    assert_equal "#{@path}:2", entries[:threads].place
  end

  def test_read_as_utf8_with_or_without_bom
    assert_equal "Käse", read("\uFEFFserver 'Käse'")[:server].value
  end

  def test_unknown_option
    assert_fault 2, ":2: unknown option max_wrokers", "threads 1\nmax_wrokers 3\n"
    assert_fault 2, ":1: unknown option config_file", "config_file 'x'"
  end

  def test_wrong_number_of_values
    assert_fault 2, ":1: Threads wants a value", "threads"
    assert_fault 2, ":1: Threads wants one value", "threads 1, 2"
  end

  def test_faults_of_ruby
    assert_fault 2, ":2: boom (RuntimeError)", "\nraise %(boom\\nmore)\n"
    assert_fault 2, /\A:2: .*syntax error/, "threads 1\nthreads (\n"
    assert_fault 2, /\A:1: cannot load such file -- no_such_file \(LoadError\)/, "require 'no_such_file'"
  end

  def test_what_else_ends_it
    assert_fault 2, ":1: exit (SystemExit)", "exit 5"
    assert_fault 2, ":1: Exception", "raise Exception"
    assert_fault 2, ":1: full (NoMemoryError)", "raise NoMemoryError, 'full'"
    assert_fault 2, ":1: stack level too deep (SystemStackError)", "def again = again\nagain"
    assert_fault 2, ":1: SyntaxError", "raise SyntaxError, ''"
    assert_fault 2, /\A:1: .*other\.rb:1: .*syntax error.* \(SyntaxError\)/, "load '#{temp_file('other.rb', '(')}'"
    assert_raises(Interrupt) { read("raise Interrupt") }
  end

  def test_a_message_of_whatever_kind
    assert_fault 2, ":1: RuntimeError", "raise ''"
    assert_fault 2, ":1: \uFFFDx (RuntimeError)", "raise %(\\xffx)"
    assert_fault 2, ":1: x (RuntimeError)", "raise %(\\n x \\n).encode('UTF-16')"
    assert_fault 2, ":1: IOError", "raise IOError.new.tap { |e| def e.message = raise('x') }"
    assert_fault 2, /\A:1: x{200}\.\.\. \(RuntimeError\)\z/, "raise 'x' * 100_000"
  end

  def test_missing_file
    error = assert_raises(Bontebok::StartError) { Bontebok::ConfigFile.new("/nonexistent/c.rb") }
    assert_equal ["cannot read the configuration file /nonexistent/c.rb: No such file or directory", 1],
                 [error.message, error.exit_status]
  end

  private

  def read(text)
    Bontebok::ConfigFile.new(@path = temp_file("bontebok.rb", text)).entries
  end

  def assert_fault(exit_status, message, text)
    error = assert_raises(Bontebok::StartError) { read(text) }
    assert_equal [exit_status, 1], [error.exit_status, error.message.lines.size]
    assert_operator message, :===, error.message.delete_prefix(@path)
  end
end
