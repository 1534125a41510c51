# frozen_string_literal: true

require "json"
require "socket"
require_relative "process_tree"

# Starts servers with reuse_port that have the same control socket.
module SharingServers
  include ProcessTree

  SHARED = %w[--reuse-port --keepalive-drain 50ms].freeze
  APP = "run ->(_) { [200, {}, [Process.pid.to_s]] }"
  LOADING_APP = "$stderr.puts 'loading'\nFile.read('gate')\n#{APP}".freeze

  private

  def start(other = nil, *args, shared: SHARED, ready: true, app: APP)
    address = other ? ["-l", other.address.to_s] : []
    server = start_bontebok(listen: other ? nil : :tcp, ready: ready, rackup: app,
                            args: ["-w", "1", "--control", control, *shared, *address, *args])
    server.wait_for_output(/ ready in \d+ ms$/) if ready
    server
  end

  def start_loading(old)
    File.mkfifo(gate) unless File.exist?(gate)
    start(old, ready: false, app: LOADING_APP).tap { |server| server.wait_for_output(/loading/) }
  end

  def control = "#{temp_dir}/bontebok.control"

  def status
    UNIXSocket.open(control) do |socket|
      socket.write("{\"version\":1,\"command\":\"status\"}\n")
      JSON.parse(socket.read).fetch("server")
    end
  rescue SystemCallError, JSON::ParserError # the server has just ended
    {}
  end

  # Returns the ChildProcess, which has ended.
  def command(*words)
    Support::ChildProcess.run(RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, *words, "--control", control)
  end

  # The inodes of the TCP sockets of the supervisor.
  def listeners(server)
    Dir.glob("/proc/#{server.pid}/fd/*").filter_map { |link| inode(link) } & tcp_inodes
  end

  def tcp_inodes = File.readlines("/proc/net/tcp").drop(1).map { |line| line.split[9] }

  def inode(link)
    File.readlink(link)[/\Asocket:\[(\d+)/, 1]
  rescue Errno::ENOENT
    nil # closed meanwhile
  end

  # The pids that respond on new connections.
  def pids(server)
    Array.new(10) { Support::Client.open(server.address) { |client| client.get.body.to_i } }.uniq
  end
end
