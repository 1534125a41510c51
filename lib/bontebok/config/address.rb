# frozen_string_literal: true

require_relative "../system/file_name"

module Bontebok
  # An address to listen on, in one of FORMS or of the forms that other servers have: tcp://HOST:PORT, unix:///path and
  # /path. An Address is only a value; a Listener binds the socket.
  class Address
    FORMS = "HOST:PORT, PORT, *:PORT, [v6]:PORT, unix:/path or unix:@name"
    # The host of all IPv4 and IPv6 addresses.
    ANY = "*"
    # The length of sun_path in bytes, without its NUL (unix(7)).
    LONGEST_PATH = 107
    PATTERN = %r{\A(?:(?:\[(?<v6>[0-9A-Fa-f:.%]+[^\]]*)\]|(?<host>\*|[^\s:/\[\]@*]+)):)?(?<port>\d{1,5})\z}

    # Parameters of puma's addresses, such as unix:///run/app.sock?umask=0111, and the options for the same thing.
    PARAMETERS = { "umask" => "--socket-mode", "mode" => "--socket-mode", "backlog" => "--backlog" }.freeze

    attr_reader :host, :port, :path

    class << self
      # Raises OptionTypes::Invalid.
      def parse(text)
        raise OptionTypes::Invalid, "an address without TLS, which is left to a proxy" if text.start_with?("ssl:")

        refuse_parameter(text.b[/\?(\w+)=/, 1])
        return unix(text) if text.start_with?("unix:")
        return unix("unix:#{text}") if text.start_with?("/")

        match = (PATTERN.match(text.delete_prefix("tcp://")) if text.valid_encoding?)
        raise OptionTypes::Invalid, FORMS unless match

        port = Integer(match[:port], 10)
        raise OptionTypes::Invalid, "a port from 0 to 65535" if port > 65_535

        new(host: match[:v6] || match[:host] || "0.0.0.0", port: port)
      end

      # Returns HOST:PORT. An IPv6 host may be given with or without brackets.
      def text(host, port)
        host = host.to_s
        host.include?(":") && !host.start_with?("[") ? "[#{host}]:#{port}" : "#{host}:#{port}"
      end

      private

      def refuse_parameter(name)
        return unless name

        option = PARAMETERS[name]
        raise OptionTypes::Invalid, "an address without ?#{name}=#{" (see #{option})" if option}"
      end

      def unix(text)
        path = text.delete_prefix("unix:")
        raise OptionTypes::Invalid, "a path or @name after unix:" if ["", "@"].include?(path) || path.include?("\0")

        path = absolute(path) unless path.start_with?("@")
        raise OptionTypes::Invalid, "a unix path of at most #{LONGEST_PATH} bytes" if path.bytesize > LONGEST_PATH

        new(path: path)
      end

      # The path is made absolute, because the socket is unlinked at exit, and the application may have changed the
      # working directory. Some users write unix:///path; the additional slashes are removed.
      def absolute(path)
        path = path.delete_prefix("/") while path.start_with?("//")
        FileName.absolute(path)
      rescue ArgumentError # ~name, and there is no such user
        raise OptionTypes::Invalid, "a path or @name after unix:"
      end
    end

    def initialize(host: nil, port: nil, path: nil)
      @host = host
      @port = port
      @path = path
      freeze
    end

    def unix?
      !path.nil?
    end

    # True for a unix socket in Linux's abstract namespace (unix(7)), which has no file.
    def abstract?
      unix? && path.start_with?("@")
    end

    # True if the kernel chooses the port. Several listeners may have this address.
    def any_port?
      port&.zero? || false
    end

    def ==(other)
      other.is_a?(Address) && to_s == other.to_s
    end
    alias eql? ==

    def hash
      to_s.hash
    end

    def to_s
      unix? ? "unix:#{path}" : Address.text(host, port)
    end
  end
end
