# frozen_string_literal: true

require "test_helper"

# Runs small programs that use Bontebok::Server. The programs run with -w, and no file of Bontebok may cause a warning.
class ServerProgramTest < Support::TestCase
  # The settings of a process that a server must not change.
  STATE = <<~RUBY
    def state
      signals = (Signal.list.keys - %w[EXIT KILL STOP VTALRM]).to_h do |name|
        former = trap(name, "DEFAULT")
        trap(name, former)
        [name, former]
      rescue ArgumentError
        [name, "reserved"]
      end
      [signals, $stdout.sync, $stderr.sync, ENV.to_h, File.umask, Process.getrlimit(:NOFILE), $0, Dir.pwd,
       File.read("/proc/self/cmdline"), Thread.report_on_exception, Thread.abort_on_exception,
       Process.singleton_class.ancestors, Kernel.instance_method(:system).owner, Kernel.method(:spawn).owner,
       GC.stress, Encoding.default_external]
    end
  RUBY

  def test_the_library_loads_only_what_it_needs
    output = run_program(<<~RUBY)
      require "bontebok"
      puts $LOADED_FEATURES.grep(%r{/bontebok})
      Bontebok::Server.name
      puts $LOADED_FEATURES.grep(%r{/bontebok/(cli|processes|adapters)/})
    RUBY
    files = %w[bontebok/version bontebok/request_timeout bontebok/workers/stats/this_server bontebok]
            .map { |name| "#{ROOT}/lib/#{name}.rb" }
    assert_equal files, output.lines(chomp: true)
  end

  def test_the_errors_of_the_library_have_names
    assert_equal "Bontebok::StartError Bontebok::RequestTimeout",
                 run_program('require "bontebok"; print [Bontebok::StartError, Bontebok::RequestTimeout].join(" ")')
  end

  # A program that lacks descriptors can stop its server, and each start either succeeds or leaves nothing open.
  def test_without_descriptors
    assert_equal "true, 0 errors, StartError, ok", run_program(<<~RUBY)
      require "bontebok"
      require "net/http"
      Process.setrlimit(:NOFILE, 64)
      errors = []
      log = ->(level, message, _) { errors << message if level == :error }
      make = -> { Bontebok::Server.new(->(_env) { [200, {}, ["ok"]] }, log: log) }
      get = ->(server) { Net::HTTP.get(URI("http://\#{server.addresses.first}/")) }
      scarce = lambda do |free, &block|
        held = []
        loop { held << File.open("/dev/null") } rescue held.pop(free).each(&:close)
        block.call
      ensure
        held.each(&:close)
      end
      server = make.call.start
      get.call(server)
      print scarce.call(0) { server.stop }, ", ", errors.size, " errors, "
      starts = (0..20).map do |free|
        server = make.call
        scarce.call(free) { server.start } && get.call(server).tap { server.stop }
      rescue Bontebok::StartError => e
        server.running? ? "runs" : e.class.name.split("::").last
      end
      print starts.uniq.join(", ")
    RUBY
  end

  def test_the_settings_of_the_process_do_not_change
    assert_equal "unchanged", run_program(<<~RUBY)
      require "bontebok"
      require "net/http"
      #{STATE}
      Bontebok::Server.name
      before = state
      server = Bontebok::Server.new(->(_env) { [200, {}, ["ok"]] }).start
      Net::HTTP.get(URI("http://\#{server.addresses.first}/"))
      during = state
      server.stop
      print (before == during && before == state ? "unchanged" : [before - during, during - before].inspect)
    RUBY
  end

  # These methods of Ruby change the process, fork or end it.
  def test_the_server_calls_no_method_that_concerns_the_process
    assert_equal "[]", run_program(<<~RUBY)
      require "bontebok"
      require "net/http"
      called = []
      names = %i[at_exit trap fork _fork daemon exit exit! abort exec setproctitle setrlimit umask chdir sync= reopen
                 report_on_exception= abort_on_exception= prepend]
      TracePoint.new(:c_call) { |call| called << call.method_id if names.include?(call.method_id) }.enable do
        server = Bontebok::Server.new(->(_env) { [200, {}, ["ok"]] }).start
        Net::HTTP.get(URI("http://\#{server.addresses.first}/"))
        server.stop
      end
      print called
    RUBY
  end

  # The program does not stop its server. One thread has a request, the other thread is idle.
  def test_a_program_exits_while_its_server_runs
    path = File.join(temp_dir, "s.sock")
    child = run_child(<<~RUBY)
      require "bontebok"
      require "socket"
      at_exit { puts "exit handler" }
      arrived = Queue.new
      Bontebok::Server.new(->(_env) { arrived.push(true); sleep }, listen: "unix:#{path}", threads: 2).start
      UNIXSocket.new("#{path}").write("GET / HTTP/1.0\\r\\n\\r\\n")
      arrived.pop
      exit 3
    RUBY
    assert_equal [3, "exit handler\n"], [child.status.exitstatus, child.output.text]
    refute_path_exists path
  end

  # The server's threads may not have begun.
  def test_a_program_exits_at_once
    path = File.join(temp_dir, "s.sock")
    child = run_child(<<~RUBY)
      require "bontebok"
      Bontebok::Server.new(->(_env) { [200, {}, []] }, listen: "unix:#{path}", threads: 2).start
      exit 3
    RUBY
    assert_equal [3, ""], [child.status.exitstatus, child.output.text]
    refute_path_exists path
  end

  def test_a_signal_handler_may_stop_the_server
    assert_equal "stopped: true", run_program(<<~RUBY)
      require "bontebok"
      server = Bontebok::Server.new(->(_env) { [200, {}, []] }).start
      stopped = nil
      trap("USR1") { stopped = server.stop }
      Process.kill("USR1", Process.pid)
      server.join
      sleep 0.001 until stopped
      print "stopped: \#{stopped}"
    RUBY
  end

  # The garbage collector does not run between the two counts of descriptors. An I/O thread that had not ended would
  # have some.
  def test_stopped_servers_leave_nothing
    before, after, maps_before, maps_after = run_program(<<~RUBY).split.map(&:to_i)
      require "bontebok"
      count = -> { Dir.children("/proc/self/fd").size }
      maps = -> { GC.start || File.foreach("/proc/self/maps").count }
      server = Bontebok::Server.new(->(_env) { [200, {}, []] })
      10.times { server.start.stop }
      maps_before = maps.call
      GC.disable
      before = count.call
      50.times { server.start.stop }
      after = count.call
      GC.enable
      puts before, after, maps_before, maps.call
    RUBY
    assert_equal before, after
    assert_operator maps_after, :<, maps_before + 40
  end

  private

  # Runs the program to its end. Returns its output.
  def run_program(text)
    child = run_child(text)
    assert_predicate child.status, :success?, child.output.text
    child.output.text
  end

  def run_child(text)
    Support::ChildProcess.run(RbConfig.ruby, "-w", "-I#{ROOT}/lib", temp_file("program.rb", text))
  end
end
