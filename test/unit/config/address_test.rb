# frozen_string_literal: true

require "test_helper"
require "bontebok/config/option_table"

# Tests of the forms of an address to listen on.
class AddressTest < Minitest::Test
  Address = Bontebok::Address

  def test_an_address_has_a_host_and_a_port
    address = Address.parse("127.0.0.1:8080")
    assert_equal ["127.0.0.1", 8080, nil], [address.host, address.port, address.path]
    assert_equal "example.test:1", Address.parse("example.test:1").to_s
  end

  def test_a_port_alone_means_every_ipv4_address
    assert_equal "0.0.0.0:9292", Address.parse("9292").to_s
  end

  def test_an_ipv6_host_stands_in_brackets
    address = Address.parse("[::1]:80")
    assert_equal ["::1", 80, "[::1]:80"], [address.host, address.port, address.to_s]
    assert_equal "fe80::1%eth0", Address.parse("[fe80::1%eth0]:80").host
  end

  def test_a_unix_path_becomes_absolute
    assert_equal "unix:/run/app.sock", Address.parse("unix:/run/app.sock").to_s
    assert_equal "unix:#{Dir.pwd}/app.sock", Address.parse("unix:app.sock").to_s
    assert_equal "unix:/run/app.sock", Address.parse("unix:///run//app.sock").to_s
  end

  def test_a_unix_path_may_have_any_bytes
    assert_equal "unix:/\xff.sock", Address.parse("unix:/\xff.sock").to_s
  end

  def test_the_home_of_an_unknown_user_is_rejected
    assert_refused "a path or @name after unix:", "unix:~nobody-of-this-name/a.sock"
  end

  def test_an_at_sign_begins_an_abstract_name
    address = Address.parse("unix:@app")
    assert_equal [true, true, "unix:@app"], [address.unix?, address.abstract?, address.to_s]
    refute_predicate Address.parse("unix:/@app"), :abstract?
  end

  def test_a_unix_path_has_at_most_107_bytes
    assert_equal 112, Address.parse("unix:/#{'x' * 106}").to_s.size
    ["/#{'x' * 107}", "@#{'x' * 107}"].each do |path|
      assert_refused "a unix path of at most 107 bytes (#{path} has 108)", "unix:#{path}"
    end
  end

  def test_forms_of_other_servers_are_accepted
    { "tcp://127.0.0.1:80" => "127.0.0.1:80", "tcp://[::1]:80" => "[::1]:80", "unix:///run/a" => "unix:/run/a",
      "/run/a.sock" => "unix:/run/a.sock", "*:80" => "*:80" }
      .each { |text, address| assert_equal address, Address.parse(text).to_s, text }
    assert_refused "an address without TLS, which is left to a proxy", "ssl://127.0.0.1:80?key=a"
  end

  # Without this check, the parameters would be a part of the file name.
  def test_parameters_of_puma_are_rejected
    { "unix:///a?umask=0111" => "?umask= (see --socket-mode)", "/a?mode=777" => "?mode= (see --socket-mode)",
      "unix:a?backlog=9" => "?backlog= (see --backlog)", "tcp://h:80?backlog=9" => "?backlog= (see --backlog)",
      "unix:/a?low_latency=true" => "?low_latency=" }
      .each { |text, part| assert_refused "an address without #{part}", text }
  end

  def test_other_texts_are_rejected
    assert_refused Address::FORMS, "", "host:", "host", "::1:80", "[::1]", "a b:80", "host:80/x", "http://h:80",
                   "\xff", "\xff:80", "-1", "1.2.3.4:+80", "80\n", "x@y:80", "*"
    assert_refused "a port from 0 to 65535", "65536", "127.0.0.1:99999"
    assert_refused "a path or @name after unix:", "unix:", "unix:@", "unix:/a\0b"
  end

  private

  def assert_refused(message, *texts)
    texts.each do |text|
      error = assert_raises(Bontebok::OptionTypes::Invalid, "for #{text.inspect}") { Address.parse(text) }
      assert_equal message, error.message, "for #{text.inspect}"
    end
  end
end
