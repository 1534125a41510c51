# frozen_string_literal: true

module Support
  # An HTTP client that sends exactly the given bytes. Each read and each write has a time limit, and raises Timeout
  # after the limit.
  class Client
    # The server closed (EOF) or reset the connection before the expected bytes had arrived. #partial: the bytes that
    # had arrived.
    class Closed < Error
      attr_reader :partial

      def initialize(message, partial)
        @partial = partial
        super("#{message} after #{partial.bytesize} bytes: #{partial[0, 200].inspect}")
      end
    end

    class Reset < Closed; end

    LINE_LIMIT = 128 * 1024
    SIOCOUTQ = 0x5411 # from linux/sockios.h; Ruby has no name for it

    attr_reader :socket

    # address: an Address or its text. With a block, the client is closed after the block.
    def self.open(address)
      client = new(address)
      return client unless block_given?

      begin
        yield client
      ensure
        client.close
      end
    end

    # Sends a request without Host, and returns the body of the response.
    def self.body_from(address)
      Client.open(address) do |client|
        client.write("GET / HTTP/1.0\r\n\r\n")
        client.read_response.body
      end
    end

    # Returns true if a server listens on the address. The file of a unix socket can exist before the server listens.
    def self.accepted?(address)
      new(address).close
      true
    rescue Errno::ENOENT, Errno::ECONNREFUSED
      false
    end

    def initialize(address)
      address = Address.new(address) unless address.is_a?(Address)
      @socket = address.connect
      @buffer = String.new(encoding: Encoding::BINARY)
    end

    # Sends all bytes. Raises Reset if the server has closed or reset the connection.
    def write(bytes, limit = Deadline::DEFAULT_SECONDS)
      deadline = Deadline.for(limit)
      rest = bytes.b
      until rest.empty?
        case (sent = socket.write_nonblock(rest, exception: false))
        when :wait_writable then ready(:write, deadline)
        else rest = rest.byteslice(sent..)
        end
      end
    rescue Errno::EPIPE, Errno::ECONNRESET
      raise Reset.new("the connection was reset while #{rest.bytesize} bytes were unsent", @buffer)
    end

    # Sends a request of the usual form. Adds the body's Content-Length, and "Host: test" unless the fields have a Host.
    def request(method, target, fields = {}, body = nil, limit: Deadline::DEFAULT_SECONDS)
      fields = { "Host" => "test" }.merge(fields)
      fields = { "Content-Length" => body.bytesize }.merge(fields) if body
      head = fields.map { |name, value| "#{name}: #{value}\r\n" }.join
      write("#{method} #{target} HTTP/1.1\r\n#{head}\r\n".b << body.to_s.b, limit)
    end

    def get(target = "/", fields = {})
      request("GET", target, fields)
      read_response
    end

    # Reads one response. to: the method of its request; a response to HEAD has no body.
    def read_response(limit = Deadline::DEFAULT_SECONDS, to: "GET")
      ResponseReader.new(self, Deadline.for(limit), to: to).read
    end

    def read(count, limit = Deadline::DEFAULT_SECONDS)
      deadline = Deadline.for(limit)
      fill(deadline) while @buffer.bytesize < count
      @buffer.slice!(0, count)
    end

    # Reads a line. Returns it with its LF.
    def read_line(limit = Deadline::DEFAULT_SECONDS)
      deadline = Deadline.for(limit)
      until (line_end = @buffer.index("\n"))
        raise Error, "no line end in #{@buffer.bytesize} bytes" if @buffer.bytesize > LINE_LIMIT

        fill(deadline)
      end
      @buffer.slice!(0..line_end)
    end

    # Reads everything until the server closes the connection. Raises Reset if the connection is reset instead.
    def read_to_end(limit = Deadline::DEFAULT_SECONDS)
      deadline = Deadline.for(limit)
      loop { fill(deadline) }
    rescue Reset
      raise
    rescue Closed
      take
    end

    # Reads until the connection ends. Returns :eof or :reset. Raises Timeout if the connection stays open.
    def wait_for_end(limit = Deadline::DEFAULT_SECONDS)
      read_to_end(limit)
      :eof
    rescue Reset
      :reset
    end

    # Returns true if no byte arrives and the connection does not end within `seconds`.
    def quiet?(seconds)
      @buffer.empty? && !socket.wait_readable(seconds)
    end

    # Returns how many sent bytes are outstanding. On a unix socket, the server has not read them. On TCP, the server's
    # kernel has not acknowledged them.
    def unread_by_server
      count = [0].pack("i")
      socket.ioctl(SIOCOUTQ, count)
      count.unpack1("i")
    end

    # Returns the received bytes that no caller has read yet.
    def take
      @buffer.slice!(0..)
    end

    # Closes the sending direction of the connection. The response can still be read.
    def finish_writing
      socket.close_write
    end

    def close
      socket.close
    end

    # Closes the connection with a reset instead of a FIN. A unix connection is reset only if the client has not read
    # all bytes.
    def reset
      socket.setsockopt(Socket::Option.linger(true, 0))
      socket.close
    end

    private

    def fill(deadline)
      case (bytes = socket.read_nonblock(65_536, exception: false))
      when :wait_readable then ready(:read, deadline)
      when nil then raise Closed.new("the connection was closed", @buffer)
      else @buffer << bytes
      end
    rescue Errno::ECONNRESET
      raise Reset.new("the connection was reset", @buffer)
    end

    def ready(way, deadline)
      arrived = way == :read ? socket.wait_readable(deadline.left) : socket.wait_writable(deadline.left)
      return if arrived

      raise Timeout, "nothing to #{way}; unread: #{@buffer.bytesize} bytes: #{@buffer[0, 200].inspect}"
    end
  end
end
