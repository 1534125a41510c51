# frozen_string_literal: true

require "test_helper"
require "bontebok/system/loopback"
require_relative "../support/process_tree"

# The server as a developer starts it: without options, in a terminal.
class DevelopmentTest < Support::TestCase
  include ProcessTree

  APP = "run ->(env) { [200, {}, [env.fetch('SERVER_NAME')]] }\n"

  def test_the_server_is_one_process_on_both_addresses_of_localhost
    hosts = Bontebok::Loopback.addresses
    port = held_port(hosts.size == 2 ? "::" : "127.0.0.1")
    server = development(env: { "PORT" => port.to_s })
    server.wait_for_output(/ ready in \d+ ms$/)
    assert_match(/, development: one process, 3 threads$/, server.output.text)
    assert_equal [server.pid], server.group.map(&:pid)
    assert_equal ["127.0.0.1:#{port}", "[::1]:#{port}"].first(hosts.size), server.addresses.map(&:to_s)
    server.addresses.each do |address|
      Support::Client.open(address) { |client| assert_equal 200, client.get("/").status }
    end
  end

  def test_the_start_prints_a_url
    { [] => "127.0.0.1", ["-l", "*:0"] => "127.0.0.1", ["-w", "1", "-l", "127.0.0.2:0"] => "127.0.0.2",
      ["-w", "0", "-E", "production"] => "127.0.0.1" }.each do |args, host|
      server = development(args: args)
      server.wait_for_output(/ ready in \d+ ms$/)
      server.wait_for_output(%r{ open http://#{host}:#{server.address.to_s[/\d+\z/]}$})
    end
    server = development(args: %w[-E production -w 1])
    server.wait_for_output(/ ready in \d+ ms$/)
    refute_includes server.output.text, "open http"
  end

  # The flags are those of bin/run, without the address.
  def test_the_page_of_the_demo_tells_the_truth
    flags = File.read(File.join(ROOT, "bin/run"))[%r{bontebok (.*)-l \S+ examples/demo/config.ru$}, 1].split
    server = start_bontebok(args: [*flags, File.join(ROOT, "examples/demo/config.ru")])
    assert_includes server.get.body, "While one worker sends"
    server.connect do |client|
      client.request("GET", "/stream")
      sender = client.read_line until sender.to_s.start_with?("process ")
      refute_equal sender[/\d+/], server.get.body[%r{Process</dt><dd>(\d+)}, 1]
    end
  end

  # A client connects while the new program loads the application. The file changes again while the application loads.
  def test_a_restart_file_executes_the_process_again_and_keeps_the_listeners
    server = development(args: %w[--restart-file tmp/restart.txt], rackup: <<~RUBY)
      again = File.exist?("gate")
      $stderr.puts("at the gate") if again
      File.read("gate") if again
      run ->(_) { [200, {}, [again.to_s]] }
    RUBY
    assert_equal "false", server.get.body
    make_gate
    path = temp_file("tmp/restart.txt")
    server.wait_for_output(/at the gate/)
    File.utime(1, 1, path)
    server.connect do |client|
      client.request("GET", "/")
      open_gate
      assert_equal "true", client.read_response.body
    end
    server.wait_for_output(/(?:.*at the gate){2}/m)
    open_gate
    server.wait_for_output(/(?:.*ready in \d+ ms$){3}/m)
    assert_equal server.pid.to_s, server.output.text.scan(/ (\d+) - - ready in/).last.first
  end

  private

  def development(args: [], env: {}, rackup: APP)
    start_bontebok(listen: nil, rackup: rackup, args: args, env: { "PORT" => "0", **env })
  end
end
