# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# unbuffered_bodies, with the real executable: the application reads a body while the client sends it.
class UnbufferedBodiesTest < Support::TestCase
  include ProcessTree

  MIB = 1 << 20

  # /first responds with the first byte of the body, /gate waits, and /count reads the whole body in parts.
  RACKUP = <<~RUBY
    run(lambda do |env|
      input = env["rack.input"]
      body = case env["PATH_INFO"]
             when "/first" then input.read(1)
             when "/gate" then $stderr.puts("at the gate") || File.read("gate")
             when "/count"
               count = 0
               part = +""
               count += part.bytesize while input.read(65_536, part)
               count.to_s
             end
      [200, { "content-type" => "text/plain" }, [body.to_s]]
    end)
  RUBY

  def test_the_application_is_called_before_the_body_is_complete
    server = start("/first")
    server.connect do |client|
      client.write(head("/first", 10 * MIB))
      client.write("x")

      assert_equal %w[x close], [(response = client.read_response).body, response["connection"]]
    end
    assert_equal "", server.get("/first").body
  end

  # While both workers are busy, the request waits in the shared queue. Its body comes meanwhile.
  def test_a_request_waits_for_a_worker_as_any_other_request
    make_gate
    server = start("/", "-w", "2")
    wait_for_workers(server, 2)
    threads = Array.new(2) { Thread.new { server.get("/gate").status } }
    server.wait_for_output(/at the gate.*at the gate/m)
    server.connect do |client|
      client.write("#{head("/count", 12)}first ")
      client.write("second")
      open_gate_for(2)

      assert_equal "12", client.read_response.body
    end
    assert_equal [200, 200], threads.map(&:value)
  end

  # The application does not read, so the client's bytes stay in the buffers of the two sockets.
  def test_a_slow_application_slows_the_client_down
    make_gate
    server = start("/gate", "-w", "1")
    pid = wait_for_workers(server, 1).first
    server.connect do |client|
      client.write(head("/gate", 200 * MIB))
      server.wait_for_output(/at the gate/)
      before = Support::ProcessTable.memory_bytes(pid)

      assert_operator fill(client), :<, 20
      assert_operator Support::ProcessTable.memory_bytes(pid) - before, :<, 5 * MIB
      assert_empty Dir.children(spool)
    end
    open_gate
  end

  def test_a_long_body_costs_no_memory_and_no_file
    server = start("/count", "-w", "1", "--spool-max", "1M")
    pid = wait_for_workers(server, 1).first
    server.connect do |client|
      client.write(head("/count", 100 * MIB))
      part = "x" * MIB
      sizes = Array.new(100) do
        client.write(part)
        Support::ProcessTable.memory_bytes(pid)
      end

      assert_equal (100 * MIB).to_s, client.read_response.body
      assert_operator sizes.last - sizes[10], :<, 10 * MIB
    end
  end

  private

  def start(paths, *args)
    start_bontebok(args: ["--unbuffered-bodies", paths, "--spool-dir", spool, *args], rackup: RACKUP)
  end

  def spool
    @spool ||= File.join(temp_dir, "spool").tap { |path| FileUtils.mkdir_p(path) }
  end

  # Sends until the sockets take no more. Returns how many MiB they have taken.
  def fill(client)
    taken = 0
    client.write("x" * MIB, 0.2) while (taken += 1) <= 200
    taken
  rescue Support::Timeout
    taken
  end

  def head(path, length)
    "POST #{path} HTTP/1.1\r\nHost: test\r\nContent-Length: #{length}\r\n\r\n"
  end
end
