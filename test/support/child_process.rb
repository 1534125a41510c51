# frozen_string_literal: true

require "io/nonblock"

module Support
  # Runs a program in its own process group and collects its output. All processes that the program forks are in this
  # group, so a test can count and kill them. Used for the server under test, for proxies and for commands.
  class ChildProcess
    @started = []

    class << self
      attr_reader :started

      # Runs a command to its end. Returns the ChildProcess, with its #status and #output.
      def run(*argv, limit: Deadline::DEFAULT_SECONDS, **options)
        child = new(*argv, **options)
        child.wait(limit)
        child.output.wait_for_end(limit)
        child
      ensure
        child&.kill
      end

      # Kills every process group that was started here. Called when the test process exits.
      def kill_all
        started.dup.each(&:kill)
      end
    end

    attr_reader :pid, :output, :status

    # env: variables to add to GemDirectories.environment; a nil value removes a variable. Without stdin:, standard
    # input is empty.
    def initialize(*argv, env: {}, chdir: nil, stdin: File::NULL, **spawn_options)
      @output = Output.new
      stdout, stdout_writer = IO.pipe
      stderr, stderr_writer = IO.pipe
      # The pipes are in blocking mode, like the pipes of a shell or a service manager.
      [stdout_writer, stderr_writer].each { |writer| writer.nonblock = false }
      spawn_options[:chdir] = chdir if chdir
      spawn_options = { in: stdin, out: stdout_writer, err: stderr_writer, **spawn_options }
      program = [argv.first, argv.first] # a shell would split a single string into words
      @pid = Process.spawn(GemDirectories.environment.merge(env), program, *argv.drop(1), pgroup: true, **spawn_options)
      @output.collect(:stdout, stdout)
      @output.collect(:stderr, stderr)
      @waiter = Process.detach(@pid)
      ChildProcess.started << self
    ensure
      stdout_writer&.close
      stderr_writer&.close
    end

    def running?
      @waiter.alive?
    end

    # Sends a signal to the started process only.
    def signal(name)
      Process.kill(name, pid) if running?
    rescue Errno::ESRCH
      nil # the process has ended
    end

    # Waits until the started process has ended. Returns its Process::Status.
    def wait(limit = Deadline::DEFAULT_SECONDS)
      deadline = Deadline.for(limit)
      return @status = @waiter.value if @waiter.join(deadline.left)

      raise Timeout, "process #{pid} does not end:\n#{output.text}"
    end

    # Waits for a line (see Output#wait_for). Raises Error if the program ends without this line.
    def wait_for_output(pattern, limit = Deadline::DEFAULT_SECONDS)
      output.wait_for(pattern, limit) ||
        raise(Error, "process #{pid} ended without #{pattern.inspect}:\n#{output.text}")
    end

    # Sends the signal, and waits until the process and its whole group have ended. Returns the Process::Status.
    def stop(name = "TERM", limit = Deadline::DEFAULT_SECONDS)
      deadline = Deadline.for(limit)
      signal(name)
      wait(deadline)
      wait_for_group(deadline)
      status
    end

    # Waits until the started process and all processes that it forked are gone.
    def wait_for_group(limit = Deadline::DEFAULT_SECONDS)
      Eventually.eventually("the end of process group #{pid}", limit: limit) { group.empty? }
    rescue Timeout
      raise Timeout, "processes are left: #{group.map(&:command).inspect}:\n#{output.text}"
    end

    # The live processes of the group, including the started process. kill(2) finds out at once that no process is left;
    # a look at the table takes thousand times as long. A group of another session is not this one: after the end of the
    # started process, its number can be that of another process.
    def group
      Process.kill(0, -pid)
      ProcessTable.group(pid).select { |process| process.session == Process.getsid }
    rescue Errno::ESRCH, Errno::EPERM
      []
    end

    # Kills the whole group. Returns the processes that were still alive.
    def kill
      left = group
      Process.kill("KILL", -pid) unless left.empty?
      @status = @waiter.value
      ChildProcess.started.delete(self)
      left
    rescue Errno::ESRCH
      left
    end
  end
end
