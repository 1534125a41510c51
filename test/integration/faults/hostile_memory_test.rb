# frozen_string_literal: true

require "test_helper"
require_relative "../support/control_case"

# The application in a worker overwrites the scoreboard (memory that all processes of the server share).
class HostileMemoryTest < Support::TestCase
  include ControlCase

  # Overwrites all bytes from a place on. Each number becomes 0x7f7f7f7f or longer, also each pid. There are no such
  # processes.
  APP = <<~'RUBY'
    boards = lambda do
      Dir["/proc/self/fd/*"].select do |path|
        File.readlink(path).start_with?("/memfd:bontebok-scoreboard")
      rescue SystemCallError
        false
      end
    end
    run(lambda do |env|
      from = env["QUERY_STRING"].to_i
      boards.call.each { |path| File.open(path, "r+b") { |file| file.pwrite("\x7f" * (file.size - from), from) } }
      [200, { "content-type" => "text/plain" }, ["overwritten"]]
    end)
  RUBY
  # Bytes of struct bb__scoreboard_layout. Without them, the next generation has a scoreboard of its own.
  LAYOUT = 28

  def test_the_server_goes_on_after_a_worker_has_overwritten_the_memory
    release(1, "config.ru" => APP)
    server = start
    former = wait_for_workers(server, 2)
    overwrite(server, LAYOUT)
    Process.kill("KILL", master(server).pid)
    server.wait_for_output(/w2 g2 ready after/)
    assert_empty former & wait_for_workers(server, 2, without: former)
    eventually { status["processes"].map { |process| process["pid"] }.sort == workers(server) }
    overwrite(server, 0)
  end

  private

  def overwrite(server, from)
    3.times { assert_equal "overwritten", server.get("/?#{from}").body }
    assert_equal "serving", status["state"]
  end
end
