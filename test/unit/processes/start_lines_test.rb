# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config"
require "bontebok/log/log"
require "bontebok/processes/start_lines"

# Tests the first lines of the log.
class StartLinesTest < Minitest::Test
  Listener = Struct.new(:address, :origin) do
    def to_s
      address
    end
  end

  def test_a_backlog_above_somaxconn_is_logged_once
    listeners = [Listener.new("127.0.0.1:80"), Listener.new("[::1]:80")]
    assert_equal ["warn BackLog 1024 is above net.core.somaxconn: 128 holds"], warnings(listeners, somaxconn: 128)
    assert_empty warnings(listeners, somaxconn: 1024)
  end

  def test_the_backlog_of_an_adopted_listener_is_checked_only_if_backlog_is_set
    adopted = Listener.new("127.0.0.1:80", "systemd")
    assert_empty warnings([adopted], somaxconn: 128)
    assert_match(/ listening on 127\.0\.0\.1:80, adopted from systemd$/, @text)
    assert_equal 1, warnings([adopted, Listener.new("unix:/a")], somaxconn: 128).size
    assert_equal 1, warnings([adopted], { backlog: ["512"] }, somaxconn: 128).size
  end

  private

  def warnings(listeners, written = {}, somaxconn:)
    reader, writer = IO.pipe
    File.stub(:read, "#{somaxconn}\n") do
      Bontebok::StartLines.write(Bontebok::Log.new(writer), Bontebok::Config.new(written, env: {}), listeners)
    end
    @text = reader.read_nonblock(4096)
    @text.lines(chomp: true).grep(/ warn /).map { |line| line.sub(/\A\S+ (\w+) \d+ - -/, '\1') }
  ensure
    [reader, writer].each(&:close)
  end
end
