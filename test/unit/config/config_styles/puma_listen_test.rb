# frozen_string_literal: true

require "test_helper"
require_relative "../../support/config_style_case"

# Tests of puma's directives that set addresses.
class ConfigStylesPumaListenTest < Support::TestCase
  include ConfigStyleCase

  STYLE = Bontebok::ConfigStyles.of("puma")

  def test_port_and_bind_add_addresses
    { "port 3000" => "*:3000", "port '3000'" => "*:3000",
      "port 3000, '[::1]'" => "[::1]:3000", "port 3000, '::1'" => "[::1]:3000", "port 1, :a" => "a:1",
      "bind 'tcp://0.0.0.0:80'" => "0.0.0.0:80", "bind 'tcp://[::]:80?low_latency=true'" => "[::]:80",
      "bind 'unix:///run/a.sock'" => "/run/a.sock", "bind 'unix://tmp/a.sock'" => "tmp/a.sock",
      "bind 'unix://@name'" => "@name", "bind 'unix:/run/a.sock?backlog=9'" => "/run/a.sock",
      "bind 'tcp://a:3000/'" => "a:3000", "bind 'tcp://a:3000/?backlog=9'" => "a:3000",
      "set_default_host '127.0.0.1'\nport 1" => "127.0.0.1:1" }.each do |text, address|
      assert_equal [address], values(text)[:listen], text
    end
    assert_equal 512, values("bind 'tcp://a:1?backlog=512'\nbind 'tcp://a:2?backlog=16'")[:backlog]
    assert_equal 2, values("port 1\nbind 'tcp://a:2?low_latency'")[:listen].size
    assert_equal ["*:2"], values("port 1\nclear_binds!\nport 2")[:listen]
  end

  def test_umask_and_mode_of_bind_set_the_socket_mode
    { "umask=0117" => 0o660, "umask=022" => 0o755, "mode=0660" => 0o660, "mode=600&backlog=5" => 0o600 }
      .each { |text, mode| assert_equal mode, values("bind 'unix:///a?#{text}'")[:socket_mode], text }
    assert_equal 0o640, values("bind 'unix:///a?mode=0660'\nbind 'unix:///b?umask=0137'")[:socket_mode]
    assert_fault ":1: umask of bind wants a number like 0117", "bind 'unix:///a?umask=none'"
    assert_fault ":1: mode of bind wants a number like 0117", "bind 'unix:///a?mode=0888'"
  end

  def test_the_file_can_read_the_default_host
    assert_equal ["*:1"], values("bind \"tcp://\#{default_host}:1\"")[:listen]
    assert_equal ["a:1"], values("set_default_host 'a'\nport 1, default_host")[:listen]
  end

  def test_unknown_forms_of_bind_are_errors
    assert_fault ":1: bind wants tcp://HOST:PORT or unix://PATH, not tcp:a:1", "bind 'tcp:a:1'"
    assert_fault ":1: bind ssl://a:1: TLS is left to a proxy", "bind 'ssl://a:1?key=k'"
  end

  def test_unknown_parameters_of_bind_have_no_effect
    file = read("bind 'unix:///a?mask=0'")
    assert_equal ["#{@path}:1: mask of bind has no effect: the server does not know this parameter"], file.warnings
    assert_equal ["/a"], file.entries[:listen].value
  end
end
