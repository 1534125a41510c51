# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# Hijacked connections and streams when their worker stops, is replaced, or the server stops (hijack_timeout).
class HijackDrainTest < Support::TestCase
  include ProcessTree

  # /hijack echoes lines in upper case, /stream keeps its stream open. The hook ends all open connections with "bye".
  APP = <<~RUBY
    $open = Queue.new
    run(lambda do |env|
      case env["PATH_INFO"]
      when "/hijack"
        io = env["rack.hijack"].call
        $open << io
        Thread.new { io << "open\\n" && (io << io.gets.upcase while true) rescue io.close }
        [-1, {}, []]
      when "/stream" then [200, {}, ->(stream) { $open << (stream << "open\\n") }]
      else [200, {}, [Process.pid.to_s]]
      end
    end)
  RUBY
  HOOK = "before_worker_drain { ($open.pop << \"bye\\n\").close until $open.empty? }\n"

  def test_a_stop_waits_for_the_hijack_timeout_and_closes
    %w[/hijack /stream].each do |path|
      server = start(%w[--hijack-timeout 1])
      server.connect do |client|
        take(client, path)
        server.signal("TERM")
        server.wait_for_output(/waits for 1 hijacked connections and streams, at most 1 s/)
        client.wait_for_end
        assert_equal 0, server.wait.exitstatus
      end
      assert_match(/closes 1 hijacked connections and streams after hijack_timeout/, server.output.text)
    end
  end

  def test_a_stop_ends_when_the_hook_has_closed_the_connections
    %w[0 1].each do |workers|
      server = start(["-w", workers], HOOK)
      server.connect do |client|
        take(client, "/hijack")
        server.signal("TERM")
        assert_equal "bye\n", client.read_line
        assert_equal 0, server.wait.exitstatus
      end
      refute_match(/hijack_timeout/, server.output.text)
    end
  end

  # The threads have ended before the hook ends.
  def test_a_stop_waits_for_the_hook
    make_gate
    %w[0 1].each do |workers|
      server = start(["-w", workers], "before_thread_exit { warn 'thread ends' }\n" \
                                      "before_worker_drain { File.read('gate') && warn('hook ends') }\n")
      server.signal("TERM")
      server.wait_for_output(/thread ends/)
      open_gate
      assert_equal 0, server.wait.exitstatus
      assert_match(/hook ends/, server.output.text)
    end
  end

  def test_a_hook_that_does_not_end_has_the_hijack_timeout
    %w[0 1].each do |workers|
      server = start(["-w", workers, "--hijack-timeout", "100ms"], "before_worker_drain { sleep }\n")
      assert_equal 0, server.stop.exitstatus
      assert_match(/the hook before_worker_drain has not ended within hijack_timeout/, server.output.text)
    end
  end

  # hijack_timeout is graceful_timeout, so nothing is left of it for the exit.
  def test_a_single_process_waits_too_and_goes_on_after_the_hijack_timeout
    server = start(%w[-w 0 --graceful-timeout 2], "after_stopped { sleep 0.01 and warn 'hook ends' }\n")
    2.times do |number|
      server.connect do |client|
        take(client, "/hijack")
        server.signal(number.zero? ? "USR2" : "TERM")
        client.write("a\n")
        assert_equal "A\n", client.read_line
        client.wait_for_end
      end
      server.wait_for_output(/(?:hook ends\n.*){#{number + 1}}/m)
      server.wait_for_output(/(?: ready in .*){2}/m)
    end
    assert_equal 0, server.wait.exitstatus
    refute_match(/the exit took/, server.output.text)
  end

  # RLIMIT_NPROC and pids.max of a cgroup have the same effect.
  def test_without_room_for_the_hook_requests_are_finished
    refusal = temp_file("refusal.rb", <<~RUBY)
      Thread.singleton_class.prepend(Module.new do
        def new(...) = File.exist?("full") ? raise(ThreadError, "no room") : super
      end)
    RUBY
    make_gate
    %w[0 1].each do |workers|
      server = start(["-w", workers], HOOK, env: { "RUBYOPT" => "-r#{refusal}" }, rackup: GATED_APP)
      response = request_at_gate(server) do
        temp_file("full")
        server.signal("TERM")
        server.wait_for_output(/the hook before_worker_drain cannot run: no room/)
      end
      assert_equal 200, response.status
      assert_equal 0, server.wait.exitstatus
      File.unlink(File.join(temp_dir, "full"))
    end
  end

  def test_a_replaced_worker_serves_its_hijacked_connections
    server = start(%w[-w 1])
    server.connect do |client|
      take(client, "/hijack")
      former = server.get.body
      server.signal("USR1")
      server.wait_for_output(/waits for 1 hijacked/)
      client.write("still here\n")
      assert_equal "STILL HERE\n", client.read_line
      refute_equal former, server.get.body
      client.close
      server.wait_for_output(/pid #{former}\) has left: exit status 0/)
    end
  end

  private

  def start(arguments, hooks = "", rackup: APP, **options)
    File.write(File.join(temp_dir, "hooks.rb"), hooks)
    start_bontebok(args: ["-w", "1", "-c", File.join(temp_dir, "hooks.rb"), *arguments], rackup: rackup, lint: false,
                   **options)
  end

  # Sends a request and waits until the application has the connection.
  def take(client, path)
    client.request("GET", path)
    line = client.read_line until line == "open\n"
  end
end
