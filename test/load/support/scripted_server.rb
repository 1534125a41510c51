# frozen_string_literal: true

require "socket"

# A server that runs the test's block for each connection. Only the block writes responses, so a test can send malformed
# responses.
class ScriptedServer
  OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  # One accepted connection: the argument of the block.
  class Connection
    attr_reader :number, :socket

    def initialize(server, socket, number)
      @server = server
      @socket = socket
      @number = number
    end

    # Reads and records the next request with its body, and returns it; nil if the client has closed the connection.
    def read_request
      head = @socket.gets("\r\n\r\n")
      return unless head&.end_with?("\r\n\r\n")

      request = head + @socket.read(head[/^content-length: (\d+)/i, 1].to_i)
      @server.note(request)
      request
    end

    def respond(text = OK)
      @socket.write(text)
    end

    # Responds to every request until the client closes the connection.
    def respond_to_all(text = OK)
      respond(text) while read_request
    end

    # Leaves the connection open and unread until the test ends.
    def hold
      Thread.stop
    end

    # With SO_LINGER of 0 s, close() resets a TCP connection. A unix connection is reset if unread bytes are left.
    def reset
      @socket.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
      @socket.close
    end
  end

  def self.tcp(&block)
    listener = TCPServer.new("127.0.0.1", 0)
    new(listener, "http://127.0.0.1:#{listener.addr[1]}/", &block)
  end

  def self.unix(path, backlog: 128, &block)
    listener = UNIXServer.new(path)
    listener.listen(backlog)
    new(listener, "unix:#{path}:/", &block)
  end

  attr_reader :url

  def initialize(listener, url, &serve)
    @listener = listener
    @url = url
    @serve = serve
    @mutex = Mutex.new
    @requests = []
    @clients = []
    @faults = []
    @acceptor = Thread.new { accept_all }
  end

  # Returns all requests so far, in order of arrival.
  def requests
    @mutex.synchronize { @requests.dup }
  end

  def connection_count
    @mutex.synchronize { @clients.size }
  end

  # Returns the addresses of all clients.
  def sources
    @mutex.synchronize { @clients.map { |client| client[:source] } }
  end

  def note(request)
    @mutex.synchronize { @requests << request }
  end

  # Closes all connections and the listener. Raises the first exception that a block has raised, if any.
  def stop
    @acceptor.kill.join
    @listener.close
    @clients.each { |client| client.kill.join }
    raise @faults.first if @faults.any?
  end

  private

  def accept_all
    loop do
      socket = @listener.accept
      source = socket.remote_address.ip_address if @listener.is_a?(TCPServer)
      @mutex.synchronize { @clients << serve(socket, @clients.size).tap { |thread| thread[:source] = source } }
    end
  end

  def serve(socket, number)
    Thread.new do
      @serve.call(Connection.new(self, socket, number))
    rescue Errno::ECONNRESET, Errno::EPIPE
      nil # the client has closed the connection, for example after a timeout
    rescue StandardError => e
      @mutex.synchronize { @faults << e }
    ensure
      socket.close unless socket.closed?
    end
  end
end
