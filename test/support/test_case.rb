# frozen_string_literal: true

require "fileutils"
require "tmpdir"

module Support
  # The base of tests that use files, processes or sockets. At the end of a test, its processes are stopped and its
  # files are removed. The test fails if a process does not end after TERM, or if it leaves another process behind.
  class TestCase < Minitest::Test
    include Eventually

    # A worker that hangs is killed after graceful_timeout, which is shorter than the limits of the tests. No test waits
    # for the default (30 s).
    HANGS = /^.* did not (?:end|finish) within 30(?:\.0)? s.*$/

    # A signal ends a test without its teardown.
    def run
      super
    rescue SignalException
      ChildProcess.kill_all
      after_teardown
      raise
    end

    # A directory for the test. Its path is short enough for the path of a unix socket.
    def temp_dir
      @temp_dir ||= Dir.mktmpdir("bontebok-test-")
    end

    # Writes a file into #temp_dir and returns its path.
    def temp_file(name, text = "")
      path = File.join(temp_dir, name)
      FileUtils.mkdir_p(File.dirname(path))
      File.binwrite(path, text)
      path
    end

    # As #temp_file, with Rack::Lint in front of the application.
    def rackup_file(name, text)
      temp_file(name, BontebokProcess::LINT + text)
    end

    # Starts a server (see BontebokProcess). Waits until the server listens; does not wait if ready is false. The server
    # is stopped at the end of the test.
    def start_bontebok(ready: true, directory: temp_dir, **options)
      server = BontebokProcess.new(directory, **options)
      children << server
      server.wait_until_ready if ready
      server
    end

    # Starts a program. The program is stopped at the end of the test.
    def start_process(*argv, **options)
      child = ChildProcess.new(*argv, **options)
      children << child
      child
    end

    # Reserves a port until the test ends (see HeldPort). Returns the port's number.
    def held_port(host = "127.0.0.1")
      (@held_ports ||= []).push(HeldPort.new(host)).last.number
    end

    # How messages name a process.
    def named(pid)
      "process #{pid} (#{File.read("/proc/#{pid}/comm").chomp})"
    end

    # Sends SIGSTOP to a process, and waits until all its threads are frozen.
    def stop_process(pid)
      Process.kill("STOP", pid)
      eventually("the stop of each thread") { ProcessTable.thread_states(pid) == ["T"] }
    end

    def before_teardown
      super
      problems = children.reverse.filter_map { |child| problem_of(child) }
      flunk(problems.join("\n")) unless problems.empty?
    end

    def after_teardown
      super
      @held_ports&.each(&:release)
      FileUtils.rm_rf(@temp_dir) if @temp_dir
    end

    private

    def children
      @children ||= []
    end

    # Stops a child. Returns the text of the error; nil if there is none.
    def problem_of(child)
      child.stop
      child.output.text[HANGS]
    rescue Error => e
      e.message
    ensure
      child.kill
    end
  end
end
