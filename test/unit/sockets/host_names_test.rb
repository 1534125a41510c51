# frozen_string_literal: true

require "json"
require "test_helper"
require "bontebok/config/address"
require "bontebok/config/option_types"
require "bontebok/sockets/host_names"

# Tests the table with which a process tells another one the IP addresses of host names. TcpListenerTest tests the
# look-ups.
class HostNamesTest < Support::TestCase
  NAMES = Bontebok::HostNames

  def test_a_table_has_the_look_ups_and_their_errors
    table = NAMES.table(%w[127.0.0.1:1 localhost:2 unix:@name name.invalid:3].map { |text| address(text) })
    assert_equal %w[127.0.0.1:1 localhost:2 name.invalid:3], table.keys
    assert_equal ["127.0.0.1"], table["127.0.0.1:1"]
    assert_includes table["localhost:2"], "127.0.0.1"
    assert_match(/\Acannot listen on name\.invalid:3: /, table["name.invalid:3"])
  end

  def test_a_table_resolves_without_look_ups
    table = NAMES::Table.new(JSON.parse('{"name:80": ["127.0.0.1", "::1"], "bad:80": "cannot listen on bad:80: x"}'))
    assert_equal [["127.0.0.1", 80], ["::1", 80]], pairs(table, "name:80")
    assert_equal [["::1", 9]], pairs(table, "[::1]:9")
    assert_error("cannot listen on bad:80: x") { table.resolve(address("bad:80")) }
    assert_error("cannot listen on localhost:80: its IP addresses are not known") do
      table.resolve(address("localhost:80"))
    end
  end

  # A name in the place of an IP address is not looked up, either.
  def test_a_table_of_another_form
    assert_raises(SocketError) { NAMES::Table.new({ "name:80" => ["localhost"] }).resolve(address("name:80")) }
    assert_error(/not known/) { NAMES::Table.new(nil).resolve(address("name:80")) }
    assert_error(/not known/) { NAMES::Table.new({ "name:80" => 7 }).resolve(address("name:80")) }
    assert_raises(TypeError) { NAMES::Table.new("text") }
  end

  private

  def address(text) = Bontebok::Address.parse(text)

  def pairs(table, text)
    table.resolve(address(text)).map { |info| [info.ip_address, info.ip_port] }
  end

  def assert_error(message, &)
    assert_operator message, :===, assert_raises(Bontebok::StartError, &).message
  end
end
