# frozen_string_literal: true

require "socket"

# A server that does to each connection what the test's block says, on a listener that the test owns. It speaks no HTTP
# of its own: what is wrong on the wire is wrong on purpose.
class ScriptedServer
  OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  # One accepted connection, as the block sees it.
  class Connection
    attr_reader :number, :socket

    def initialize(server, socket, number)
      @server = server
      @socket = socket
      @number = number
    end

    # The next request with its body, noted down; nil when the client has closed.
    def read_request
      head = @socket.gets("\r\n\r\n")
      return unless head&.end_with?("\r\n\r\n")

      request = head + @socket.read(head[/^content-length: (\d+)/i, 1].to_i)
      @server.note(request)
      request
    end

    def answer(text = OK)
      @socket.write(text)
    end

    # Answers every request until the client has had enough.
    def answer_all(text = OK)
      answer(text) while read_request
    end

    # Leaves it open and unread until the test ends.
    def hold
      Thread.stop
    end

    # A socket of TCP is reset by linger 0, a unix one by bytes that were not read.
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

  # What has been read so far, in order of arrival.
  def requests
    @mutex.synchronize { @requests.dup }
  end

  def connection_count
    @mutex.synchronize { @clients.size }
  end

  # Addresses that clients connected from.
  def sources
    @mutex.synchronize { @clients.map { |client| client[:source] } }
  end

  def note(request)
    @mutex.synchronize { @requests << request }
  end

  # Ends everything; raises what went wrong in the block.
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
      nil # the client went away, as a timeout makes it
    rescue StandardError => e
      @mutex.synchronize { @faults << e }
    ensure
      socket.close unless socket.closed?
    end
  end
end
