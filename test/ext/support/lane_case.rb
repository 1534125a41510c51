# frozen_string_literal: true

require "test_helper"
require "timeout"
require_relative "lane_server"

module Support
  # A test of the binding, in this process and over real sockets. Its servers are drained at its end. The test fails if
  # a lane does not end, or reports something that the test did not ask for.
  class LaneCase < TestCase
    # Valgrind makes code some fifty times slower, and finds by itself the faults that GC.stress would show.
    VALGRIND = ENV.key?("RUBY_MEMCHECK_RUNNING")
    OK = [200, {}.freeze, ["ok"].freeze].freeze

    # Starts a LaneServer on a unix socket, or with tcp: true on 127.0.0.1. The application is `app` or the block.
    # listener: another listening socket and its Address.
    def serve(app = nil, tcp: false, listener: tcp ? tcp_listener : unix_listener, **options, &block)
      server = LaneServer.new(app || block, *listener, **options)
      servers << server
      server
    end

    # Returns a worker, a lane that no thread serves yet, and the address.
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

    # A value of GC.stress: only young objects are collected at every allocation. A test that collects old objects as
    # well would take minutes.
    STRESS = 1

    # Moves the objects that may be moved, and fails if a reference still has an old address.
    def move_objects
      GC.verify_compaction_references(toward: :empty)
    end

    # Runs the block with automatic compaction. A collection that is under way ends first: Ruby 3.1 would let it
    # compact, although its marking began without compaction and has pinned nothing. It would move classes and other
    # objects that C code holds, and crash.
    def under_automatic_compaction
      former = GC.auto_compact
      GC.start
      GC.auto_compact = true
      yield
    ensure
      GC.auto_compact = former
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

    # Returns the descriptor of a copy. The worker owns it.
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
