# frozen_string_literal: true

# For tests of the processes: finds the master and the workers of a started server, and makes requests wait at a gate
# until the test opens it.
module ProcessTree
  # An application that answers with its pid. /gate says so in the log and waits for #open_gate first.
  GATED_APP = <<~RUBY
    run(lambda do |env|
      if env["PATH_INFO"] == "/gate"
        $stderr.puts "at the gate"
        File.read("gate")
      end
      [200, { "content-type" => "text/plain" }, [Process.pid.to_s]]
    end)
  RUBY

  def master(server)
    Support::ProcessTable.children(server.pid).first
  end

  # The workers' pids, oldest first.
  def workers(server)
    parent = master(server)
    return [] unless parent

    Support::ProcessTable.children(parent.pid).reject { |child| child.exit_signal.zero? }.map(&:pid)
  end

  # Waits until there are `count` workers, and none of the pids in `without` is among them. Returns the workers' pids.
  def wait_for_workers(server, count, without: [])
    seen = -> { ["now: #{workers(server)}", server.output.text] }
    eventually(10, "#{count} workers other than #{without}", seen: seen) do
      now = workers(server)
      now if now.size == count && !now.intersect?(without)
    end
  end

  def gone?(pid)
    Support::ProcessTable.entry(pid).nil?
  end

  def make_gate
    File.mkfifo(gate)
  end

  # Lets all readers go that wait at the gate now. Waits until there is one.
  def open_gate
    eventually(10, "somebody at the gate") { gate_opens? }
  end

  # Returns false if no reader waits at the gate. An open that blocks could be interrupted and repeated when the readers
  # have gone already.
  def gate_opens?
    File.open(gate, File::WRONLY | File::NONBLOCK, &:close)
    true
  rescue Errno::ENXIO
    false
  end

  # Lets `count` readers go, including those that are still on their way to the gate.
  def open_gate_for(count)
    File.open(gate, File::RDWR) { eventually(10, "#{count} at the gate") { readers(gate) == count } }
  end

  def gate
    File.join(temp_dir, "gate")
  end

  # How often the started processes have the file open.
  def readers(path)
    files = children.flat_map(&:group).flat_map { |process| Support::ProcessTable.descriptors(process.pid).values }
    files.count(File.realpath(path))
  end

  # Runs the block while a request waits at the gate.
  def request_at_gate(server)
    server.connect do |client|
      client.request("GET", "/gate")
      yield
      open_gate
      client.read_response
    end
  end

  def title(pid)
    Support::ProcessTable.entry(pid)&.command.to_s.rstrip
  end

  def assert_title(pid, expected)
    assert(eventually(5, "the title #{expected}", seen: -> { "it is #{title(pid)}" }) { title(pid) == expected })
  end
end
