# frozen_string_literal: true

require "test_helper"
require_relative "../support/control_case"

# The application in a worker overwrites the scoreboard (memory that all processes of the server share).
class HostileMemoryTest < Support::TestCase
  include ControlCase

  # A request for /NUMBER makes this number of all words behind the layout, also of all pids. A request for / overwrites
  # the layout, too. While there is a file "hold", the application does not finish loading.
  APP = <<~RUBY
    sleep 0.01 while File.exist?("../../hold")
    boards = lambda do
      Dir["/proc/self/fd/*"].select do |path|
        File.readlink(path).start_with?("/memfd:bontebok-scoreboard")
      rescue SystemCallError
        false
      end
    end
    run(lambda do |env|
      number = env["PATH_INFO"].delete("/")
      from = number.empty? ? 0 : 28 # bytes of struct bb__scoreboard_layout
      words = ->(length) { [number.empty? ? 0x7f7f7f7f : number.to_i].pack("l").*(length / 4) }
      boards.call.each { |path| File.open(path, "r+b") { |file| file.pwrite(words.call(file.size - from), from) } }
      [200, { "content-type" => "text/plain" }, ["overwritten"]]
    end)
  RUBY
  # There is no process with such a pid.
  NOBODY = 0x7f7f7f7f

  def test_the_server_goes_on_after_a_worker_has_overwritten_the_memory
    server = start_hostile
    former = workers(server)
    overwrite(server, NOBODY)
    Process.kill("KILL", master(server).pid)
    server.wait_for_output(/w2 g2 ready after/)
    assert_empty former & wait_for_workers(server, 2, without: former)
    eventually { status["processes"].map { |process| process["pid"] }.sort == workers(server) }
    overwrite(server, nil)
  end

  # The master of the next generation is a child of the supervisor, as adopted workers are.
  def test_a_wrong_pid_does_not_let_the_supervisor_end_a_master
    server = start_hostile
    former = master(server).pid
    temp_file("hold")
    server.signal("USR2")
    present = eventually { (masters(server) - [former]).first }
    overwrite(server, present)
    Process.kill("KILL", former)
    eventually { gone?(former) }
    File.unlink(temp_file("hold"))
    server.wait_for_output(/w2 g2 ready after/)
    assert_equal [present], masters(server)
    refute_match(/adopts|wants to be replaced/, server.output.text)
  end

  private

  def start_hostile
    release(1, "config.ru" => APP)
    start.tap { |server| wait_for_workers(server, 2) }
  end

  def masters(server)
    Support::ProcessTable.children(server.pid).map(&:pid)
  end

  def overwrite(server, number)
    3.times { assert_equal "overwritten", server.get("/#{number}").body }
    assert_includes %w[serving deploying], status["state"]
  end
end
