# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/port_holder"

# Tests how a message names the process that has an address.
class PortHolderTest < Support::TestCase
  # Each process chooses its own name, and the message goes to the terminal of another user.
  def test_a_name_has_only_printable_characters
    reader, writer = IO.pipe
    pid = fork do
      File.binwrite("/proc/self/comm", "a\e[2J\nb\xE9 c")
      writer.write(".")
      sleep
    end
    reader.read(1)
    assert_equal "process #{pid} (a?[2J?b? c)", Bontebok::PortHolder.described(pid)
  ensure
    Process.kill("KILL", pid)
    Process.wait(pid)
    [reader, writer].each(&:close)
  end
end
