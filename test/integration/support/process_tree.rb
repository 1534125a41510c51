# frozen_string_literal: true

# For tests of the processes: finds the master and the workers of a started server, and makes requests wait until the
# test lets them go.
module ProcessTree
  # An application that answers with its pid; /gate waits for #open_gate first and says so in the log.
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

  # Waits until there are so many workers and none of these pids is among them; returns their pids.
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

  # Lets everybody go who waits at the gate now.
  def open_gate
    eventually(10, "somebody at the gate") { gate_opens? }
  end

  # False: nobody is there. An open that waits may be interrupted, when those at the gate have gone already.
  def gate_opens?
    File.open(gate, File::WRONLY | File::NONBLOCK, &:close)
    true
  rescue Errno::ENXIO
    false
  end

  # Lets so many go, who may be on their way there.
  def open_gate_for(count)
    File.open(gate, File::RDWR) { eventually(10, "#{count} at the gate") { readers(gate) == count } }
  end

  def gate
    File.join(temp_dir, "gate")
  end

  # How often the processes that were started have it open.
  def readers(path)
    files = children.flat_map(&:group).flat_map { |process| Support::ProcessTable.descriptors(process.pid).values }
    files.count(File.realpath(path))
  end

  # The block runs while a request waits at the gate.
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
    eventually(5, "the title #{expected}", seen: -> { "it is #{title(pid)}" }) { title(pid) == expected }
  end
end
