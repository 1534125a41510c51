# frozen_string_literal: true

require "test_helper"
require "timeout"
require_relative "lane_server"

module Support
  # A test of the binding, in this process and over real sockets. What it serves is drained at its end; a lane that does
  # not end, or has something to report that the test did not ask for, fails it.
  class LaneCase < TestCase
    # Valgrind is some fifty times slower, and sees by itself what GC.stress is there to show.
    VALGRIND = ENV.key?("RUBY_MEMCHECK_RUNNING")
    OK = [200, {}.freeze, ["ok"].freeze].freeze

    # Starts a LaneServer on a unix socket, or with tcp: true on 127.0.0.1. The application is given, or the block.
    # listener: a listening socket and its Address, instead.
    def serve(app = nil, tcp: false, listener: tcp ? tcp_listener : unix_listener, **options, &block)
      server = LaneServer.new(app || block, *listener, **options)
      servers << server
      server
    end

    # A worker and a lane that nobody serves yet, and where it listens.
    def by_hand(app, report: ->(*) {})
      listener, address = unix_listener
      listener.autoclose = false
      worker = Bontebok::Core::Worker.new({ keepalive_drain: 10 })
      worker.listen(listener.fileno, "localhost", 80)
      [worker, Bontebok::Core::Lane.new(worker, app, report: report), address]
    end

    # The env that a request of these bytes makes.
    def env_of(bytes, **options)
      seen = nil
      serve(**options) { |env| (seen = env) && OK }.raw(bytes)
      seen
    end

    # A request of HTTP/1.1 with these field lines.
    def http(*fields, line: "GET / HTTP/1.1", body: nil)
      fields = ["Host: test", *fields] unless fields.any? { |field| field.b.match?(/\Ahost:/i) }
      [line, *fields, "", body.to_s].map(&:b).join("\r\n")
    end

    # Young objects are collected at every allocation; old ones as well would take minutes.
    STRESS = 1

    # Moves the objects that may be moved, and fails if anybody still has an old address.
    def move_objects
      GC.verify_compaction_references(toward: :empty)
    end

    # A GC that is under way ends first: Ruby 3.1 would let it compact, though its marking, begun without, has pinned
    # nothing. It moves classes and whatever else C holds then, and crashes.
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

    # A copy of it for a worker, whose it is then.
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
