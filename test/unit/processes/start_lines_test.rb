# frozen_string_literal: true

require "minitest/mock"
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

  # Takes the place of a Cpus.
  module Machine
    def self.count = 8
  end

  def test_a_backlog_above_somaxconn_is_logged_once
    listeners = [Listener.new("127.0.0.1:80"), Listener.new("[::1]:80")]
    assert_equal ["warn backlog 1024 is above net.core.somaxconn: 128 holds"], warnings(listeners, somaxconn: 128)
    assert_empty warnings(listeners, somaxconn: 1024)
  end

  def test_the_backlog_of_an_adopted_listener_is_checked_only_if_backlog_is_set
    adopted = Listener.new("127.0.0.1:80", "systemd")
    assert_empty warnings([adopted], somaxconn: 128)
    assert_match(/ listening on 127\.0\.0\.1:80, adopted from systemd$/, @text)
    assert_equal 1, warnings([adopted, Listener.new("unix:/a")], somaxconn: 128).size
    assert_equal 1, warnings([adopted], { backlog: ["512"] }, somaxconn: 128).size
  end

  def test_the_size_is_logged_with_its_reason
    assert_match(/, development: one process, 3 threads$/, start)
    assert_match(/, production: 4 workers of 2 threads$/, start({ max_workers: ["4"], threads: ["2"] }))
    Bontebok::Cpus.stub(:new, Machine) do
      assert_match(/: 1 to 8 workers of 1 thread$/, start({ max_workers: ["auto"] }))
    end
    rails = { defaults: { threads: 3 }, defaults_source: Bontebok::Defaults::RAILS }
    assert_match(/: 4 workers of 3 threads \(default for Rails\)$/, start({ max_workers: ["4"] }, **rails))
  end

  private

  def warnings(listeners, written = {}, somaxconn:)
    @text = File.stub(:read, "#{somaxconn}\n") { log(listeners, Bontebok::Config.new(written, env: {})) }
    @text.lines(chomp: true).grep(/ warn /).map { |line| line.sub(/\A\S+ (\w+) \d+ - -/, '\1') }
  end

  # The first line.
  def start(written = {}, **options)
    environment = { environment: ["production"] } unless written.empty?
    log([], Bontebok::Config.new({ **environment.to_h, **written }, env: {}, **options)).lines.first.chomp
  end

  def log(listeners, config)
    reader, writer = IO.pipe
    Bontebok::StartLines.write(Bontebok::Log.new(writer), config, listeners)
    reader.read_nonblock(4096)
  ensure
    [reader, writer].each(&:close)
  end
end
