# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/control/control"
require "bontebok/processes/stop"
require "bontebok/processes/successor"
require "bontebok/sockets/passed_listeners"
require "bontebok/sockets/shared/totals"
require "bontebok/sockets/service/service_manager"

# Tests wrong values of the variables that one program of the server sets for the next one. Anybody can set them.
class PassedVariablesTest < Minitest::Test
  NUMBERS = ["", "x", "1", "-1", "1000000", "4,4", "9" * 30, "9" * 100_000, "99999999999999999999,1", "\xff\xfe"].freeze
  TEXTS = [*NUMBERS, "null", "{}", '"x"', "[1]", "[[]]", "[{}]", '[{"fd":4}]', '[{"fd":"x","address":"80"}]',
           '[{"fd":1e30,"address":"80"}]', '[{"fd":1000000,"address":"80"}]', "[" * 100_000].freeze

  def test_wrong_listeners
    TEXTS.each do |text|
      assert_wrong(Bontebok::PassedListeners::VARIABLE, text) { |env| Bontebok::PassedListeners.inherit(env) }
    end
  end

  def test_a_wrong_address_of_a_listener
    text = JSON.generate([{ fd: descriptor, address: "no:address" }])
    assert_wrong(Bontebok::PassedListeners::VARIABLE, text) { |env| Bontebok::PassedListeners.inherit(env) }
  end

  # The locale C has another encoding than JSON.
  def test_listeners_in_any_locale
    address = "unix:/tmp/gr\u00f6\u00dfe"
    text = JSON.generate([{ fd: descriptor, address: address }]).force_encoding("US-ASCII")
    env = { Bontebok::PassedListeners::VARIABLE => text }
    assert_equal [address], Bontebok::PassedListeners.inherit(env).each { |one| one.socket.close }.map(&:to_s)
    assert_empty env
  end

  def test_wrong_descriptors_of_a_supervisor
    TEXTS.each do |text|
      assert_wrong(Bontebok::Handshake::VARIABLE, text) { |env| Bontebok::Successor.inherit(env) }
    end
  end

  def test_a_wrong_descriptor_of_a_command
    TEXTS.each do |text|
      assert_wrong(Bontebok::Control::CLIENT, text) { |env| Bontebok::Control.inherit(env) }
    end
  end

  def test_wrong_descriptors_of_totals
    NUMBERS.each do |text|
      assert_wrong(Bontebok::Totals::VARIABLE, text) { |env| Bontebok::Totals.inherit(env) }
    end
  end

  def test_a_wrong_state_of_the_command_drain
    ["", "0", "yes"].each do |text|
      assert_wrong(Bontebok::Stop::DRAINS, text) { |env| Bontebok::Stop.drains?(env) }
    end
  end

  # A service manager that cannot be understood is none.
  def test_wrong_variables_of_a_service_manager
    TEXTS.each do |text|
      manager = Bontebok::ServiceManager.take({ "NOTIFY_SOCKET" => "/n", "WATCHDOG_USEC" => text })
      assert_operator manager.watchdog.to_f, :<=, 1.0, text
    end
  end

  private

  def assert_wrong(name, text, &)
    env = { name => text }
    error = assert_raises(Bontebok::UsageError, text[0, 50]) { yield env }
    assert_operator error.message, :start_with?, "#{name} wants "
  end

  # The descriptor of a socket. The code that inherits the socket closes it.
  def descriptor
    Socket.new(:UNIX, :STREAM).tap { |socket| socket.autoclose = false }.fileno
  end
end
