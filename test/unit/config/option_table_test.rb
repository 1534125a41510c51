# frozen_string_literal: true

require "test_helper"
require "bontebok/config/hooks"
require "bontebok/adapters/handler_options"
require "bontebok/cli/option_help"
require_relative "../support/option_docs"

# Tests of the table: names are unique, defaults are valid, all settings of the core are options, and the help and the
# page of docs show all options.
class OptionTableTest < Minitest::Test
  Table = Bontebok::OptionTable
  Help = Bontebok::OptionHelp

  def test_all_names_are_unique
    [Table::ALL.map(&:rackup_name), Table::ALL.flat_map(&:flags), Table::ALL.flat_map(&:all_keys),
     Table::ALL.filter_map(&:short)].each { |names| assert_equal names.uniq, names }
  end

  def test_the_flags_are_made_from_the_names
    option = Table[:max_request_per_child]
    assert_equal ["max_request_per_child", "--max-request-per-child", "MaxRequestPerChild"],
                 [option.name, option.flag, option.rackup_name]
    assert_equal [:backlog, "--backlog"], [Table[:backlog].key, Table[:backlog].flag]
    assert_equal %w[--max-workers --workers], Table[:max_workers].flags
  end

  def test_the_decision_names_a_user_of_each_option
    page = File.read(File.expand_path("../../../docs/decisions/0021-an-option-has-a-user.md", __dir__))
    kept = page[/^Seventy-four.*/m]
    assert_equal 74, Table::ALL.size
    assert_empty(Table::ALL.map(&:name).reject { |name| kept.match?(/^(\| |- )(.*, )?`?#{name}`?[,: ]/) })
  end

  def test_five_options_have_a_short_flag
    assert_equal %w[-E -c -l -t -w], Table::BY_SHORT.keys.sort
  end

  def test_every_default_is_a_value_of_its_type
    Table::ALL.reject { |option| option.default.nil? }.each do |option|
      next if option.default == ""

      assert_equal option.default, option.type.read(option.type.show(option.default)), option.name
    end
  end

  KINDS = { Bontebok::OptionTypes::Switch => "SWITCH", Bontebok::OptionTypes::Count => "COUNT",
            Bontebok::OptionTypes::Size => "BYTES", Bontebok::OptionTypes::Duration => "TIME" }.freeze

  # spool_threshold is two settings.
  def test_every_setting_of_the_core_is_an_option_of_the_same_kind_with_the_same_default
    ours = Table.core.to_h { |option| [option.key.to_s, [KINDS[option.type.class], core_value(option.default)]] }
    ours["response_buffer"] = ours["spool_threshold"]
    assert_equal settings_of_the_header, ours
  end

  def test_help_has_at_most_100_columns
    lines = [nil, Help::ALL, *Table::ALL].flat_map { |topic| Help.of(topic).lines(chomp: true) }
    assert_empty(lines.select { |line| line.size > 100 })
  end

  def test_the_first_page_of_help_has_22_options
    keys = Help::TASKS.values.flatten
    assert_equal [22, keys.uniq], [keys.size, keys]
    page = Help.of(nil)
    keys.each { |key| assert_match(/ --(\[no-\])?#{Table[key].flag.delete_prefix("--")} /, page) }
  end

  # A limit of 0 is none. Another option with the default 0 would need another text.
  def test_off_is_zero
    off = Table::ALL.select { |option| option.default_text == "off" }
    assert_equal Table::ALL.select { |option| option.default.eql?(0) && option.key != :worker_timeout }, off
    off.each { |option| assert_match(/ 0: (no |never|all |the former )|Time from TERM/, option.help, option.name) }
  end

  def test_help_knows_what_rackup_cannot_set
    assert_equal Bontebok::HandlerOptions::PAST.keys.sort, Help::PAST.sort
    assert_match(/^rackup +-O MaxQueue=N$/, Help.of(Table[:max_queue]))
    assert_match(/^rackup +none$/, Help.of(Table[:preload]))
  end

  def test_help_has_one_line_for_each_option
    lines = Help.of(Help::ALL).lines(chomp: true)
    Table::ALL.each do |option|
      flag = option.switch? ? option.flag.sub("--", "--[no-]") : option.flag
      assert_equal [flag], lines.filter_map { |line| line[/(?<= )#{Regexp.escape(flag)}(?= )/] }, option.name
      assert_operator option.summary.size, :<=, 60, option.name
      assert(lines.any? { |line| line.end_with?("#{option.summary} [#{option.default_text}]") }, option.name)
    end
  end

  def test_an_option_is_found_by_each_of_its_spellings
    Table::ALL.each do |option|
      option.spellings.each { |name| assert_same option, Table.find(name), name }
    end
    assert_nil Table.find("--no-threads")
    assert_includes Table[:reuse_port].spellings, "--no-reuseport"
  end

  def test_configuration_page_is_up_to_date
    assert_equal Bontebok::OptionDocs.markdown(page), page, "run: ruby test/unit/support/option_docs.rb"
    assert_equal 2, page.scan(Bontebok::OptionDocs::PLACES).size, "the marks of the tables"
  end

  def test_configuration_page_has_every_hook
    Bontebok::Hooks::NAMES.each { |name| assert_match(/^\| `#{name} \{/, page) }
  end

  private

  def page = File.read(File.join(ROOT, "docs/CONFIGURATION.md"), encoding: "UTF-8")

  # Returns { name => [kind, default] } of BB_SETTINGS. A default in BB_SETTINGS is a product of numbers.
  def settings_of_the_header
    header = File.read(File.join(ROOT, "core/include/bontebok_settings.h"))
    list = header[/#define BB_SETTINGS\(X\).*?[^\\]$/m]
    list.scan(/X\((\w+), (\w+), ([\d *]+)\)/)
        .to_h { |name, kind, product| [name, [kind, product.split("*").map(&:to_i).reduce(:*)]] }
  end

  def core_value(value)
    { true => 1, false => 0 }.fetch(value, value)
  end
end
