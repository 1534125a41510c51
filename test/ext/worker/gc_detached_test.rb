# frozen_string_literal: true

require_relative "../support/lane_case"
require "rack/files"

# As gc_test.rb, for responses that leave their thread: files, streams that outlive `call`, hijacked sockets. Also for
# early hints and the callables of a request.
class GcDetachedTest < Support::LaneCase
  PATHS = %w[/file /named /later /hijack /partial /hints].freeze
  HEAD = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n"

  def setup
    super
    @file = temp_file("file", "parted")
    @finished = Queue.new
  end

  # There is no test with GC.auto_compact: at the end of an automatic compaction, Ruby 3.1 takes each word on the VM
  # stacks of all threads for an object (revert_stack_objects in gc.c). Beside threads that end, it crashes now and
  # then.
  def test_requests_survive_compaction
    server = start
    2.times do
      move_objects
      exchange(server)
    end
  end

  unless VALGRIND
    def test_requests_survive_gc_stress
      server = start
      exchange(server)
      under_gc_stress { exchange(server) }
    end
  end

  # An application may keep a Stream that has ended.
  def test_the_server_of_an_application_that_keeps_its_streams_is_freed
    former = ObjectSpace.each_object(Bontebok::Core::Lane).to_a
    10.times { Thread.new { keep_a_stream }.join }
    GC.start

    assert_operator ObjectSpace.each_object(Bontebok::Core::Lane).count - former.size, :<, 5
  end

  private

  def keep_a_stream
    kept = []
    server = serve(tcp: true) { [200, {}, ->(stream) { kept << stream }] }
    server.connect do |client|
      client.request("GET", "/")
      server.next_report.error.close # after the request has ended

      assert_empty client.read_response.body
    end
    server.stop
    servers.clear
  end

  def start
    serve(settings: { x_sendfile: temp_dir }) do |env|
      env["rack.response_finished"] << ->(*) { @finished << env["PATH_INFO"] }
      send(env["PATH_INFO"].delete("/"), env)
    end
  end

  def file(_env) = [200, {}, Struct.new(:to_path).new(@file.dup)]
  def named(_env) = [200, { "x-sendfile" => @file.dup }, []]
  def later(_env) = [200, {}, ->(stream) { answer_later(stream, "") }]
  def partial(_env) = [200, { "content-length" => "6", "rack.hijack" => ->(io) { answer_later(io, "") } }, []]

  def hijack(env)
    answer_later(env["rack.hijack"].call, HEAD)
    [-1, {}, []]
  end

  def hints(env)
    env["rack.early_hints"].call("link" => +"</a>")
    [200, {}, %w[par ted].each]
  end

  # Each write has a stack of its own, so that no stack still has an object that the Stream uses.
  def answer_later(io, head)
    Thread.new do
      Thread.new { io.write(head, "par") }.join
      GC.start
      Thread.new { io.write("ted") }.join
      io.close
    end
  end

  def exchange(server)
    PATHS.each do |path|
      server.connect do |client|
        client.request("GET", path)
        response = client.read_response
        response = client.read_response if response.status == 103

        assert_equal [200, "parted"], [response.status, response.body], path
      end
      assert_equal path, Timeout.timeout(60) { @finished.pop }
    end
    3.times { assert_equal :detached, server.next_report.level }
  end
end
