# frozen_string_literal: true

require "test_helper"
require_relative "support/handover_case"

# start_server (of Server::Starter) opens the listeners and executes the server. test/soak tests that no request is lost
# while start_server replaces the server.
class StartServerTest < Interop::HandoverCase
  def test_the_server_listens_on_exactly_the_addresses_of_start_server
    path = File.join(temp_dir, "a=1.sock")
    starter = start_server("--port", "127.0.0.1:0", "--port", "[::1]:0", "--path", path)
    starter.wait_for_output(/ ready in \d+ ms$/)
    assert_equal 3, addresses(starter).size
    v4, v6, unix = addresses(starter)
    assert_equal(["127.0.0.1 #{v4[/\d+\z/]}", "[::1] #{v6[/\d+\z/]}", "localhost 80"],
                 [v4, v6, unix].map { |address| Support::Client.body_from(address) })
    assert_equal "unix:#{path}", unix
    assert_equal 0, starter.stop.exitstatus
  end

  def test_the_server_also_listens_on_its_own_address
    starter = start_server("--port", "127.0.0.1:0", args: ["-w", "0", "-l", "unix:#{temp_dir}/own.sock"])
    starter.wait_for_output(/listening on .*own\.sock$/)
    assert_equal "localhost 80", Support::Client.body_from("unix:#{temp_dir}/own.sock")
    starter.stop
    refute_path_exists "#{temp_dir}/own.sock"
  end
end
