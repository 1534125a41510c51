# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/life_line"
require "bontebok/sockets/channel"
require "bontebok/workers/parent"

# Tests whom a worker obeys when its master dies.
class ParentTest < Support::TestCase
  Links = Struct.new(:pids)

  def setup
    @ends = Bontebok::Channel.pair
    @life_line = Bontebok::LifeLine.new
  end

  def teardown
    @ends.each(&:close)
    @life_line.disown
    super
  end

  # Here, the test has the copy of the master's end.
  def test_a_worker_is_adopted_although_a_process_has_a_copy_of_the_channel
    assert_equal "[[], nil, [:adopted], :retire]", lose_the_master
  end

  private

  # Forks a master, which forks a worker and ends. Returns what the worker hears before and after that.
  def lose_the_master
    reader, writer = IO.pipe
    started, start = IO.pipe
    master = fork do
      fork { report(writer, start) }
      start.close
      started.read(1)
      exit!
    end
    [writer, start].each(&:close)
    Process.wait(master)
    reader.read
  ensure
    [reader, started].each(&:close)
  end

  def report(writer, start)
    parent = Bontebok::Parent.new(@ends.last, @life_line, Links.new([Process.pid]))
    master = Process.ppid
    heard = [parent.hear, parent.word("TERM")]
    start.write("s")
    Thread.pass while Process.ppid == master
    writer.write(heard.push(parent.hear, parent.word("TERM")).inspect)
    exit!
  end
end
