# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/failing"
require_relative "../support/streaming"

# A process that the application forks leaves to its parent what follows a response: the body's `close`, the callables
# of the env, and connections that have left their lane.
class ForkLateTest < Support::LaneCase
  include Support::Streaming

  # The steps that follow a response, in their order.
  STEPS = %i[close after_reply finished last].freeze
  # How a child leaves a step, and its exit status.
  ENDS = { -> {} => 0, -> { exit(7) } => 7, -> { raise "in the child" } => 1 }.freeze

  def setup
    super
    @parent = Process.pid
    @notes, @writer = IO.pipe
  end

  def teardown
    [@notes, @writer].each(&:close)
    super
  end

  def test_a_child_ends_with_the_step_in_which_it_was_forked
    STEPS.product(ENDS.to_a, %i[each stream]) do |place, (ending, status), kind|
      pids = Queue.new
      server = serve { |env| response(env, kind) { |step| pids.push(fork || ending.call) if step == place } }
      server.get

      assert_equal [status, STEPS], [Process.wait2(pids.pop).last.exitstatus, parents_steps], [place, status, kind]
      server.stop
      server.reports
    end
  end

  def test_a_child_ends_in_the_body_of_a_response_of_on_error
    { each: "x", close: "500 Internal Server Error\n" }.each do |place, sent|
      pids = Queue.new
      failing = Support::Failing::Body.new(->(_out) { raise "boom" })
      body = Support::Failing::Body.new(->(out) { out.call("x") || leave(pids, place == :each) },
                                        close: -> { leave(pids, place == :close) })
      app = ->(_env) { place == :each ? raise("boom") : [200, {}, failing] }
      server = serve(app, on_error: ->(*) { [500, {}, body] }, report: ->(level, *) { note(level) })

      assert_equal [sent, 7], [server.get.body, Process.wait2(pids.pop).last.exitstatus]
      server.stop
      assert_equal "error\n", @notes.gets
    end
    assert_equal :wait_readable, @notes.read_nonblock(1, exception: false)
  end

  # The exception may be an object of the application.
  def test_a_child_ends_whatever_its_exception_does
    odd = Class.new(SystemExit) { def status = raise(self) }
    pids = Queue.new
    worker, lane, address = by_hand(->(_env) { (pid = fork) ? pids.push(pid) && OK : raise(odd) })
    thread = Thread.new { served(lane) }
    Support::Client.open(address) { |client| client.get("/") }

    assert_equal 1, Process.wait2(pids.pop).last.exitstatus
    worker.drain
    thread.join
  end

  def test_a_child_that_collects_garbage_or_closes_leaves_the_streams_of_its_parent
    kept = []
    server = serve { |env| response(env, nil).tap { |all| all[2].define_singleton_method(:call) { |io| kept << io } } }
    clients = Array.new(20) { Support::Client.open(server.address).tap { |client| client.request("GET", "/") } }
    clients.each { await_stream(server) }
    run_child { kept.each(&:close) }
    run_child do
      kept.clear
      Thread.new { dive(100) && GC.start }.join
      (Thread.list - [Thread.current]).each(&:join)
    end

    assert_equal :wait_readable, @notes.read_nonblock(1, exception: false)
    kept.each(&:close)
    assert_equal [""], clients.map { |client| client.read_response.body }.uniq
    assert_equal STEPS.to_h { |step| [step, 20] }, Array.new(80) { @notes.gets.chomp.to_sym }.tally
  ensure
    clients.each(&:close)
  end

  # With SO_LINGER, which both processes share, the parent's own close would reset the connection.
  def test_a_child_of_a_partial_hijack_leaves_the_socket_of_its_parent
    ENDS.each do |ending, status|
      ended = nil
      callable = lambda do |socket|
        next ending.call unless (pid = fork)

        ended = Process.wait2(pid).last.exitstatus
        (socket << "parents").close
      end
      server = serve(tcp: true) { |env| response(env, :each).tap { |all| all[1]["rack.hijack"] = callable } }

      assert_equal "parents", server.get.body
      assert_equal [status, STEPS], [ended, parents_steps]
      assert_equal :detached, server.next_report.level
    end
  end

  private

  # A response that calls the block in each step. Each step of a child, and each step of the parent, is a line of
  # @notes. kind: of the body.
  def response(env, kind, &block)
    step = ->(name) { note(name, &block) }
    env["rack.after_reply"] << -> { step.call(:after_reply) }
    env["rack.response_finished"] << ->(*) { step.call(:last) } << ->(*) { step.call(:finished) }
    body = Support::Failing::Body.new(close: -> { step.call(:close) })
    body.define_singleton_method(:each) { |&out| out.call("x") } if kind == :each
    body.define_singleton_method(:call) { |stream| Thread.new { stream.close } } if kind == :stream
    [200, {}, body]
  end

  def note(name)
    @writer.syswrite("#{'child ' if Process.pid != @parent}#{name}\n")
    yield name if block_given?
  end

  # Forks a child that exits with 7.
  def leave(pids, wanted)
    pids.push(fork || exit(7)) if wanted
  end

  # All steps that were made, when the parent has made its last one.
  def parents_steps
    steps = []
    steps << @notes.gets.chomp.to_sym until steps.include?(:last)
    steps
  end

  # No exception of a child gets out of Lane#serve.
  def served(lane)
    lane.serve
  ensure
    exit!(2) unless Process.pid == @parent
  end

  def run_child
    pid = fork { yield && exit!(true) }
    assert_predicate Process.wait2(pid).last, :success?
  end
end
