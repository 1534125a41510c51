# frozen_string_literal: true

require "test_helper"
require "bontebok/config"
require "bontebok/log"
require "bontebok/start_lines"

# What the log says first.
class StartLinesTest < Minitest::Test
  def test_a_queue_that_the_kernel_makes_shorter_is_told_once
    listeners = ["127.0.0.1:80", "[::1]:80"]
    assert_equal ["warn BackLog 1024 is above net.core.somaxconn: 128 holds"], warnings(listeners, somaxconn: 128)
    assert_empty warnings(listeners, somaxconn: 1024)
  end

  private

  def warnings(listeners, somaxconn:)
    reader, writer = IO.pipe
    File.stub(:read, "#{somaxconn}\n") do
      Bontebok::StartLines.write(Bontebok::Log.new(writer), Bontebok::Config.new({}, env: {}), listeners)
    end
    @text = reader.read_nonblock(4096)
    @text.lines(chomp: true).grep(/ warn /).map { |line| line.sub(/\A\S+ (\w+) \d+/, '\1') }
  ensure
    [reader, writer].each(&:close)
  end
end
