# frozen_string_literal: true

require_relative "totals_reader"

# Tests of the processes include this module. It finds the master and the workers of a started server. It makes requests
# wait at a gate (a FIFO) until the test opens the gate.
module ProcessTree
  # An application that responds with its pid. A request for /gate first logs "at the gate" and waits for #open_gate.
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

  # Returns the workers' pids, oldest first.
  def workers(server)
    parent = master(server)
    return [] unless parent

    Support::ProcessTable.children(parent.pid).map(&:pid)
  end

  # Waits until there are `count` workers, and none of the pids in `without` is among them. Returns the workers' pids.
  def wait_for_workers(server, count, without: [])
    seen = -> { ["now: #{workers(server)}", server.output.text] }
    eventually("#{count} workers other than #{without}", seen: seen) do
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

  # Waits until a request is at the gate. Then all requests that are at the gate continue.
  def open_gate(path = gate)
    eventually("somebody at the gate") { gate_opens?(path) }
  end

  # Returns false if no request waits at the gate. The open does not block. A signal could interrupt a blocking open.
  # Ruby would then repeat the open, but the readers could be gone.
  def gate_opens?(path)
    File.open(path, File::WRONLY | File::NONBLOCK, &:close)
    true
  rescue Errno::ENXIO
    false
  end

  # Waits until `count` requests are at the gate. Each request continues when all are there.
  def open_gate_for(count)
    File.open(gate, File::RDWR) { eventually("#{count} at the gate") { readers(gate) == count } }
  end

  def gate
    File.join(temp_dir, "gate")
  end

  # Returns how many descriptors of the started processes refer to the file.
  def readers(path, started = children)
    files = started.flat_map(&:group).flat_map { |process| Support::ProcessTable.descriptors(process.pid).values }
    files.count(File.realpath(path))
  end

  # Runs the block while a request of the client is at the gate. The application says so in the output.
  def at_gate(server)
    server.connect do |client|
      client.request("GET", "/gate")
      server.wait_for_output(/at the gate/)
      yield client
    end
  end

  # Runs the block while a request waits at the gate. Returns the response, which comes after the block.
  def request_at_gate(server)
    server.connect do |client|
      client.request("GET", "/gate")
      File.open(gate, File::RDWR) do
        eventually("a request at the gate") { readers(gate, [server]) == 1 }
        yield
      end
      client.read_response
    end
  end

  # The end of a worker is counted, and noted with a text.
  def assert_ended(server, reason, pid, text)
    totals = TotalsReader.new(server.pid)
    assert(eventually(text, seen: -> { totals.notes(:end) }) { totals.ends?(reason, pid, text) })
  end

  def title(pid)
    Support::ProcessTable.entry(pid)&.command.to_s.rstrip
  end

  def assert_title(pid, expected)
    assert(eventually("the title #{expected}", seen: -> { "it is #{title(pid)}" }) { title(pid) == expected })
  end
end
