# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/failing"
require_relative "../support/limited_lanes"

# A process that the application forks sends nothing to the server's clients.
class ForkTest < Support::LaneCase
  include Support::LimitedLanes

  def test_a_child_that_returns_from_the_application_ends_and_sends_nothing
    pid = nil
    server = serve do
      pid = fork
      [200, {}, [pid ? "parent" : "child"]]
    end

    assert_only_the_parent_responds(server) { pid }
  end

  def test_a_child_that_raises_exits_with_1_and_sends_nothing
    parent = Process.pid
    pid = nil
    server = serve do
      pid = fork
      raise "in the child" unless Process.pid == parent

      [200, {}, ["parent"]]
    end

    assert_only_the_parent_responds(server, status: 1) { pid }
  end

  def test_a_child_that_exits_keeps_its_exit_status_and_runs_no_exit_handler
    reader, writer = IO.pipe
    parent = Process.pid
    at_exit { writer.write("exit handler") unless Process.pid == parent }
    pid = nil
    server = serve do
      exit(7) unless (pid = fork)
      [200, {}, ["parent"]]
    end

    assert_only_the_parent_responds(server, status: 7) { pid }
    assert_equal :wait_readable, reader.read_nonblock(1, exception: false)
  ensure
    reader.close
  end

  # The child must not wait for the thread that raises RequestTimeout. This thread exists only in the parent.
  def test_a_child_that_is_forked_while_its_request_times_out_can_exit
    raising, forked = Array.new(2) { Queue.new }
    trace = TracePoint.new(:c_call) do |call|
      raising.push(true) && forked.pop if call.method_id == :raise && @watches.include?(Thread.current)
    end
    pid = ended = nil
    server = limited do
      raising.pop
      (pid = fork) || exit(7)
      forked.push(true)
      sleep
    end
    trace.enable

    assert_equal 504, server.get("/slow").status
    ended = eventually { Process.wait2(pid, Process::WNOHANG) }
    assert_equal 7, ended.last.exitstatus
  ensure
    trace&.disable
    Process.kill("KILL", pid) && Process.wait(pid) if pid && !ended
  end

  def test_a_child_that_continues_in_each_sends_nothing
    reader, writer = IO.pipe
    parent = Process.pid
    pid = nil
    body = Support::Failing::Body.new(->(out) { out.call((pid = fork) ? "parent" : "child") },
                                      close: -> { writer.write("closed") unless Process.pid == parent })
    server = serve { [200, {}, body] }

    assert_only_the_parent_responds(server) { pid }
    assert_equal :wait_readable, reader.read_nonblock(1, exception: false)
  ensure
    [reader, writer].each(&:close)
  end

  def test_a_child_that_continues_in_close_sends_nothing
    pid = nil
    server = serve { [200, {}, Support::Failing::Body.new(->(out) { out.call("parent") }, close: -> { pid = fork })] }

    assert_only_the_parent_responds(server) { pid }
  end

  def test_a_forked_block_runs_to_its_end
    reader, writer = IO.pipe
    pid = nil
    server = serve do
      pid = fork do
        GC.start
        writer.write("done")
        exit!(true)
      end
      [200, {}, ["parent"]]
    end

    assert_only_the_parent_responds(server) { pid }
    assert_equal "done", reader.readpartial(4)
  ensure
    [reader, writer].each(&:close)
  end

  def test_objects_are_inert_in_a_child
    server = serve { OK }
    server.get
    pid = fork do
      server.worker.drain
      server.lanes.clear
      server.threads.clear
      server.instance_variable_set(:@worker, nil)
      GC.start
      exit!(true)
    end

    assert_predicate Process.wait2(pid).last, :success?
    assert_equal "ok", server.get.body
  end

  # Their numbers may belong to other files of the child.
  def test_a_child_does_not_close_the_directories_of_public
    public = Bontebok::Core::Public.new({ public: temp_dir })
    read, write = IO.pipe
    pid = fork do
      public.close
      write << descriptors_of_directory
    end
    write.close

    assert_equal "1", read.read
    Process.wait(pid)
    public.close

    assert_equal 0, descriptors_of_directory
  end

  private

  def descriptors_of_directory
    Support::ProcessTable.descriptors(Process.pid).values.count(File.realpath(temp_dir))
  end

  # Asserts that the client gets one complete response and that the connection stays open. The block returns the pid of
  # the child, or nil if the application has not forked yet.
  def assert_only_the_parent_responds(server, status: 0, &block)
    server.connect do |client|
      client.request("GET", "/")

      assert_equal "parent", client.read_response.body
      first = eventually(&block) # the response may arrive before the body is closed
      assert_equal status, Process.wait2(first).last.exitstatus
      client.request("GET", "/")

      assert_equal "parent", client.read_response.body
      Process.wait(eventually { yield.then { |pid| pid unless pid == first } })
    end
  end
end
