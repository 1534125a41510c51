# frozen_string_literal: true

require "test_helper"
require_relative "../../support/config_style_case"

# Tests that a configuration file can have instance variables of its own. They belong to the same object as those of the
# style.
class ConfigStylesVariablesTest < Support::TestCase
  # Directives after which the object has all of its variables.
  SET = { "puma" => "set_default_host '::'\nport 1\nenable_keep_alives false\nplugin :none\non_booted(:a) { nil }\n",
          "unicorn" => "logger Logger.new(IO::NULL)\n", "pitchfork" => "logger Logger.new(IO::NULL)\n" }.freeze
  # Variables that puma itself has.
  PUMAS = %w[@config @options].freeze

  def test_the_variables_of_a_style_have_names_that_no_file_has
    Bontebok::ConfigStyles::ALL.each_key do |name|
      pidfile = %w[unicorn pitchfork].include?(name) ? "pid" : "pidfile"
      seen = entries(name, "#{SET[name]}#{pidfile} instance_variables.join(' ')\n")[:pidfile].split
      assert_includes seen, "@bontebok_file"
      assert_empty seen.grep_v(/\A@bontebok_/) - PUMAS, name
    end
  end

  def test_variables_of_a_file_change_nothing
    variables = "@host = @data = @closing = @configuration = @server = @directives = 'mine'\n"
    assert_equal ["*:3000"], entries("puma", "#{variables}port 3000\npersistent_timeout 9\n")[:listen].map(&:to_s)
    assert_equal 2, entries("unicorn", "#{variables}worker_processes 2\nlogger Logger.new(IO::NULL)\n")[:max_workers]
  end

  private

  def entries(style, text)
    Bontebok::ConfigFile.new(temp_file("config.rb", text), style: Bontebok::ConfigStyles.of(style))
                        .entries.transform_values(&:value)
  end
end
