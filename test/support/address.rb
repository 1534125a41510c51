# frozen_string_literal: true

require "socket"

module Support
  # An address as the command line writes it: "127.0.0.1:8080", "[::1]:8080", "unix:/path", "unix:@name".
  class Address
    attr_reader :text

    def initialize(text)
      @text = text
    end

    def unix?
      text.start_with?("unix:")
    end

    # Returns nil for a unix socket.
    def port
      text[/:(\d+)\z/, 1]&.to_i unless unix?
    end

    def connect
      return UNIXSocket.new(path) if unix?

      TCPSocket.new(host, port).tap { |socket| socket.setsockopt(:TCP, :NODELAY, true) }
    end

    def to_s
      text
    end

    private

    def host
      text[/\A\[?([^\]]*?)\]?:\d+\z/, 1]
    end

    # A leading "@" stands for the NUL byte of the abstract name space.
    def path
      text.delete_prefix("unix:").sub(/\A@/, "\0")
    end
  end
end
