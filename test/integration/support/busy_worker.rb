# frozen_string_literal: true

require_relative "process_tree"

# Tests include this module if some workers serve while another worker is busy. It keeps a worker busy until the test
# releases this worker. It finds the pid of the worker that has served a request.
module BusyWorker
  include ProcessTree

  # Responds with the worker's pid. A request with a path that begins with /gate first waits for the file of that name.
  APPLICATION = <<~'RUBY'
    run(lambda do |env|
      if env["PATH_INFO"].start_with?("/gate")
        $stderr.puts "#{env["PATH_INFO"]} #{Process.pid}"
        sleep 0.005 until File.exist?(env["PATH_INFO"].delete_prefix("/"))
      end
      [200, {}, [Process.pid.to_s]]
    end)
  RUBY

  def setup
    @clients = []
  end

  # Closes the clients before the servers stop, because a server that stops waits for its clients.
  def before_teardown
    @clients.each(&:close)
    super
  end

  # Waits until every worker can serve.
  def start(*args, application: APPLICATION, **options)
    start_bontebok(args: args, rackup: application, **options).tap { |server| server.wait_for_output(/ ready in /) }
  end

  # Returns a client, which is closed at the end of the test.
  def connect(server)
    Support::Client.new(server.address).tap { |client| @clients << client }
  end

  # Returns the pid of the worker that has served.
  def ask(client)
    client.get.body.to_i
  end

  # Returns the pid of the worker that is busy from now on.
  def block(server, client, gate = "gate")
    client.request("GET", "/#{gate}")
    server.wait_for_output(%r{^/#{gate} \d+$})
    server.output.text[%r{^/#{gate} (\d+)$}, 1].to_i
  end

  def unblock(client, gate = "gate")
    temp_file(gate)
    client.read_response.body.to_i
  end

  # Returns the number of sockets of all workers together.
  def sockets(server)
    workers(server).sum { |pid| Support::ProcessTable.sockets(pid).size }
  end

  def other_than(server, pid)
    (workers(server) - [pid]).first
  end
end
