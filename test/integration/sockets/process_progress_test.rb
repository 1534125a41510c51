# frozen_string_literal: true

require "io/console"
require "pty"
require "test_helper"
require_relative "../support/control_case"

# `bontebok deploy --wait` on a terminal shows a line for each worker.
class ProcessProgressTest < Support::TestCase
  include ControlCase

  def test_a_line_for_each_worker
    server = start
    old = workers(server)
    make_gate
    release(2, "config.ru" => "File.read('#{gate}')\nrun ->(_) { [200, {}, []] }\n")
    on_terminal("deploy", "--wait") do |terminal, text|
      read(terminal, text) { text.include?("load the application") }
      assert_equal(old.map { |pid| "worker (pid #{pid}): old, serves" }.sort, text.scan(/worker .*?serves/).uniq.sort)
      open_gate
      read(terminal, text) { text.include?("generation 2 serves\r\n") }
      assert_match(/worker .*: new, serves/, text)
    end
    wait_for_workers(server, 2, without: old)
  end

  def test_a_failure_and_a_narrow_terminal
    start
    make_gate
    release(2, "config.ru" => "File.read('#{gate}')\nraise 'no good'\n")
    on_terminal("deploy", "--wait", size: [3, 12]) do |terminal, text|
      read(terminal, text) { text.include?("worker (pid\r\n") }
      refute_includes text, "the new"
      open_gate
      read(terminal, text) { text.include?("no good") && text.include?("the new master has ") }
    end
  end

  # Some terminals do not know their size, for example a serial line.
  def test_a_terminal_without_a_size
    start
    on_terminal("deploy", "--wait", size: [0, 0]) do |terminal, text|
      read(terminal, text) { text.include?("generation 2 serves\r\n") }
      assert_match(/^worker \(pid \d+\): old, serves\r$/, text)
    end
  end

  private

  def on_terminal(*command, size: [25, 80])
    terminal, input, pid = PTY.spawn({}, *ruby_client, *command, "--control", control, chdir: temp_dir)
    terminal.winsize = size
    yield terminal, +""
  ensure
    [terminal, input].each(&:close)
    Process.wait(pid)
  end

  # EIO: the command has ended.
  def read(terminal, text)
    deadline = Support::Deadline.for(10)
    until yield
      flunk(text) if deadline.passed? || !terminal.wait_readable(60)
      text << terminal.readpartial(4096)
    end
  rescue Errno::EIO
    flunk(text)
  end
end
