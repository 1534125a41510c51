# frozen_string_literal: true

require "test_helper"
require "timeout"
require_relative "lane_server"

module Support
  # A test of the Ruby binding. Its servers run in this process and have real sockets. At the end of the test, all
  # servers are drained. The test fails if a lane does not end, or if a lane has made a report that the test has not
  # read.
  class LaneCase < TestCase
    # Under Valgrind, code is about 50 times slower. Valgrind itself finds the faults that GC.stress would show.
    VALGRIND = ENV.key?("RUBY_MEMCHECK_RUNNING")
    OK = [200, {}.freeze, ["ok"].freeze].freeze

    # For tests of what several processes do together: the build without Linux has one process.
    def need_workers
      skip "one process serves" if Bontebok::Core::PORTABLE
    end

    # Starts a LaneServer on a unix socket, or with tcp: true on 127.0.0.1. The application is `app` or the block.
    # listener: a pair of a listening socket and its Address, instead of a new socket.
    def serve(app = nil, tcp: false, listener: tcp ? tcp_listener : unix_listener, **options, &block)
      server = LaneServer.new(app || block, *listener, **options)
      servers << server
      server
    end

    # Returns a worker, a lane, and the address. No thread calls Lane#serve yet.
    def by_hand(app, report: ->(*) {})
      listener, address = unix_listener
      listener.autoclose = false
      worker = Bontebok::Core::Worker.new({ keepalive_drain: 10 })
      worker.listen(listener.fileno, "localhost", 80)
      [worker, Bontebok::Core::Lane.new(worker, app, report: report), address]
    end

    # Sends these bytes. Returns the env of the request.
    def env_of(bytes, **options)
      seen = nil
      serve(**options) { |env| (seen = env) && OK }.raw(bytes)
      seen
    end

    # Returns an HTTP/1.1 request with these field lines.
    def http(*fields, line: "GET / HTTP/1.1", body: nil)
      fields = ["Host: test", *fields] unless fields.any? { |field| field.b.match?(/\Ahost:/i) }
      [line, *fields, "", body.to_s].map(&:b).join("\r\n")
    end

    # A value for GC.stress. With this value, Ruby collects only young objects at each allocation. If old objects were
    # collected, too, a test would take minutes.
    STRESS = 1

    # Moves the objects that can be moved, and fails if a reference still has an old address.
    def move_objects
      GC.verify_compaction_references(toward: :empty)
    end

    # Runs the block with automatic compaction. GC.start first ends a collection that has begun. Otherwise Ruby 3.1
    # would compact in that collection, although that collection has pinned no object. Ruby would move objects that C
    # code holds, for example classes. Then Ruby would crash.
    def under_automatic_compaction
      former = GC.auto_compact
      GC.start
      GC.auto_compact = true
      yield
    ensure
      GC.auto_compact = former
    end

    # Returns a thread that waits in the block.
    def waiting(&)
      thread = Thread.new(&)
      thread.report_on_exception = false
      eventually("the wait of a thread") { thread.status == "sleep" }
      thread
    end

    def under_gc_stress
      GC.stress = STRESS
      yield
    ensure
      GC.stress = false
    end

    def before_teardown
      super
      left = servers.flat_map { |server| end_of(server) }
      flunk("reported: #{left.join("\n")}") if left.any? && passed?
    end

    private

    def servers
      @servers ||= []
    end

    def end_of(server)
      server.stop if server.threads.any?(&:alive?)
      server.reports
    end

    # Returns the descriptor of a copy of the socket. The worker that gets the descriptor owns it.
    def lent(socket)
      socket.dup.tap { |copy| copy.autoclose = false }.fileno
    end

    def unix_listener
      path = File.join(temp_dir, "#{servers.size}.sock")
      [UNIXServer.new(path), Address.new("unix:#{path}")]
    end

    def tcp_listener
      listener = TCPServer.new("127.0.0.1", 0)
      [listener, Address.new("127.0.0.1:#{listener.addr[1]}")]
    end
  end
end
