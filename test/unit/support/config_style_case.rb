# frozen_string_literal: true

require "bontebok/config/config_file"
require "bontebok/config/config_styles"

# Helpers for tests of one style of configuration files. The test class sets the constant STYLE to this style.
module ConfigStyleCase
  private

  def read(text)
    @path = temp_file("config.rb", text)
    Bontebok::ConfigFile.new(@path, style: self.class::STYLE)
  end

  def values(text)
    read(text).entries.transform_values(&:value)
  end

  def assert_unknown(directive, text, hint: nil)
    hint &&= " (#{hint})"
    assert_fault ":1: unknown option #{directive}#{hint}", text
  end

  def assert_advised(directive, text, advice)
    file = read(text)
    assert_equal ["#{@path}:1: #{directive} has no effect: #{advice}"], file.warnings, text
    assert_empty file.entries, text
  end

  def assert_fault(message, text, exit_status = 2)
    error = assert_raises(Bontebok::StartError) { read(text) }
    assert_equal [exit_status, @path + message], [error.exit_status, error.message]
  end
end
