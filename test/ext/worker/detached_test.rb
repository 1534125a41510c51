# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/streaming"
require "bontebok/system/main_thread"
require "bontebok/workers/detached_connections"
require "bontebok/workers/heartbeat"

# Connections that have left their lanes are counted at each heartbeat, and the garbage collector frees those that the
# application has dropped. test/soak/detached_soak_test.rb does the same with whole servers.
class DetachedTest < Support::LaneCase
  include Support::Streaming

  COUNT = 400
  # The garbage collector may find a few references on the stacks of threads.
  LEFT = 10
  Title = Struct.new(:busy, :idle)
  # The methods of Bontebok::Lanes that a Heartbeat calls.
  Lanes = Struct.new(:detached, :rest) do
    def beat = detached.show
  end

  def test_connections_that_were_counted_are_freed
    { "/stream" => Bontebok::Core::Stream, "/hijack" => UNIXSocket }.each do |path, kind|
      server = start
      before = open_of(kind) # of other tests
      with_heartbeat do |beat|
        COUNT.times { detach(server, path) }
        server.await_requests(COUNT)
        beat.call
        Thread.new { dive(100) && GC.start }.join

        assert_operator open_of(kind), :<=, before + LEFT, path
      end
    end
  end

  private

  def start
    app = ->(env) { env["PATH_INFO"] == "/hijack" ? hijack(env) : [200, {}, ->(_stream) {}] }
    server = serve(app, report: ->(_level, _message, connection) { @connections.add(connection) })
    @connections = Bontebok::DetachedConnections.new(1, nil, nil, core: server.worker, log: nil)
    server
  end

  def hijack(env) = env["rack.hijack"].call.write("x") && [-1, {}, []]

  def detach(server, path)
    server.connect do |client|
      client.request("GET", path)
      client.read(1)
    end
  end

  def open_of(kind) = ObjectSpace.each_object(kind).count { |connection| !connection.closed? }

  # Yields a Proc that waits for a heartbeat. Then the thread of the heartbeat waits, as the main thread of a worker
  # does.
  def with_heartbeat
    source, trigger = IO.pipe
    beats = Queue.new
    thread = Thread.new { Bontebok::MainThread.guard { beat(source, beats) } }
    yield -> { trigger.write(".") && Timeout.timeout(60) { 2.times { beats.pop } } }
  ensure
    trigger.close
    thread.join(60)
    source.close
  end

  def beat(source, beats)
    loop do
      Bontebok::Heartbeat.new(Lanes.new(@connections), Title.new, 0) # looks at the connections
      beats << true
      Bontebok::MainThread.wait([source], nil) { |error| raise error }
      source.read(1) or break
    end
  end
end
