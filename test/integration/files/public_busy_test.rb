# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# Files of `public` need no thread of the application, and slow downloads of files occupy none.
class PublicBusyTest < Support::TestCase
  include ProcessTree

  # A request for /compute holds Ruby's lock until there is a file "end".
  APP = <<~RUBY
    run(lambda do |env|
      case env["PATH_INFO"]
      when "/gate" then File.read("gate")
      when "/compute"
        $stderr.puts "computes"
        nil until File.exist?("end")
      end
      [200, {}, ["application"]]
    end)
  RUBY
  SMALL = "small file\n"
  # More than the core keeps in memory, and less than a socket takes.
  LARGE = "large file\n" * 3000
  MIB = 1 << 20

  def setup
    temp_file("public/small.txt", SMALL)
    temp_file("public/large.txt", LARGE)
    make_gate
  end

  def test_files_are_sent_while_every_thread_waits
    server = start("-t", "2")
    kept = [server.connect, server.connect]
    assert_files(server, kept)
    hanging = Array.new(2) { server.connect.tap { |client| client.request("GET", "/gate") } }
    File.open(gate, File::RDWR) do
      eventually("two requests at the gate") { readers(gate) == 2 }
      assert_files(server, kept)
    end
    hanging.each { |client| assert_equal "application", client.read_response.body }
  ensure
    [*kept, *hanging].each(&:close)
  end

  # Only the end of the computation gives Ruby's lock to another thread before its time slice is over.
  def test_files_are_sent_while_the_application_computes
    server = start("-t", "1")
    kept = [server.connect, server.connect]
    assert_files(server, kept)
    server.connect do |client|
      client.request("GET", "/compute")
      server.wait_for_output(/computes/)
      assert_files(server, kept)
      temp_file("end")
      assert_equal "application", client.read_response.body
    end
  ensure
    temp_file("end")
    kept.each(&:close)
  end

  # The clients read nothing.
  def test_slow_downloads_do_not_keep_the_application_from_answering
    clients = []
    path = sparse_file(100 * MIB)
    server = start("-t", "1")
    200.times { clients << server.connect.tap { |client| client.request("GET", "/sparse.bin") } }
    clients.each { |client| assert_equal "HTTP/1.1 200 OK\r\n", client.read_line }
    20.times { assert_equal "application", server.get("/", { "Connection" => "close" }).body }
    assert_operator readers(path), :<=, 2
    assert_whole(clients.first)
  ensure
    clients.each(&:close)
  end

  private

  def start(*args)
    start_bontebok(args: ["-w", "1", "--public", "public", *args], rackup: APP)
  end

  # On connections that the server has had before, and on new ones.
  def assert_files(server, kept)
    { "/small.txt" => SMALL, "/large.txt" => LARGE }.each do |target, text|
      kept.each do |client|
        client.request("GET", target)
        assert_equal text, client.read_response.body
      end
      3.times { assert_equal text, server.get(target).body }
    end
  end

  # A file with the word "end" behind zeros.
  def sparse_file(size)
    temp_file("public/sparse.bin").tap { |path| File.write(path, "end", size - 3) }
  end

  # The status line was read.
  def assert_whole(client)
    nil until client.read_line == "\r\n"
    99.times { client.read(MIB) }
    assert_equal "\0end", client.read(MIB)[-4..]
  end
end
