# frozen_string_literal: true

require_relative "../system/file_name"

module Bontebok
  # An address to listen on, in one of FORMS or of the forms that other servers have: tcp://HOST:PORT, unix:///path,
  # /path. A text that servers read in different ways is refused. An Address is only a value; a Listener binds the
  # socket.
  class Address
    # The path of a unix socket, or @ and its abstract name. Nothing in it is decoded or expanded. A source that knows
    # what the text means makes one: for example the style of puma, in which %20 is a space.
    class Path < String; end

    FORMS = "HOST:PORT, PORT, *:PORT, [v6]:PORT, unix:/path or unix:@name"
    WANTED = "a path or @name after unix:"
    private_constant :WANTED
    # The host of all IPv4 and IPv6 addresses.
    ANY = "*"
    LONGEST_PATH = FileName::LONGEST_SOCKET
    PATTERN = %r{\A(?:(?:\[(?<v6>[0-9A-Fa-f:.%]+[^\]]*)\]|(?<host>\*|[^\s:/\[\]@*]+)?):)?(?<port>\d{1,5})\z}
    # Such a text is the address of a unix socket, also in the place of a host, as in puma's Rack handler.
    UNIX = ["unix:", "/", "./", "../", "~", "@"].freeze
    # puma reads these in a path otherwise than nginx and unicorn: as a space, as parameters and as a fragment.
    AMBIGUOUS = /%20|[?#]/

    # An address of puma.
    PUMAS = %r{\A(?<scheme>tcp(?=://)|unix):(?://)?(?<where>[^?#]*)(?:\?(?<parameters>[^#]*))?(?:#.*)?\z}m

    # Parameters of puma's addresses, such as unix:///run/app.sock?umask=0111, and the options for the same thing.
    PARAMETERS = { "umask" => "--socket-mode", "mode" => "--socket-mode", "backlog" => "--backlog" }.freeze

    attr_reader :host, :port, :path

    class << self
      # value: a Path, or an object whose text is an address. Raises OptionTypes::Invalid.
      def of(value)
        value.is_a?(Path) ? at(value) : parse(value.to_s)
      end

      # The Address whose #to_s is the text. Raises OptionTypes::Invalid.
      def restore(text)
        text.start_with?("unix:") ? at(text.delete_prefix("unix:")) : parse(text)
      end

      # Raises OptionTypes::Invalid.
      def parse(text)
        raise OptionTypes::Invalid, "an address without TLS, which is left to a proxy" if text.start_with?("ssl:")

        refuse_parameter(text.b[/\?(\w+)=/, 1])
        return unix(text) if text.start_with?(*UNIX)

        match = (PATTERN.match(text.delete_prefix("tcp://")) if text.valid_encoding?)
        raise OptionTypes::Invalid, FORMS unless match

        port = Integer(match[:port], 10)
        raise OptionTypes::Invalid, "a port from 0 to 65535" if port > 65_535

        new(host: match[:v6] || match[:host] || "0.0.0.0", port: port)
      end

      # Reads the text of puma's `bind` as puma does: unix://tmp/a is a relative path, ~ is a name like any other, %20
      # is a space, and a text after # is ignored. Returns the value for .of and the text of the parameters, or nil.
      def pumas(text)
        match = PUMAS.match(text) if text.valid_encoding?
        return unless match

        where = match[:where]
        unix = match[:scheme] == "unix"
        [unix ? Path.new(where.gsub("%20", " ")) : where.delete_suffix("/"), match[:parameters].to_s]
      end

      # The value of -b for .of, which refuses parameters, and names the options to use.
      def bound(text)
        address, parameters = pumas(text)
        parameters == "" ? address : text
      end

      # Returns HOST:PORT, or a host that is the address of a unix socket. An IPv6 host may be given with or without
      # brackets.
      def text(host, port)
        host = host.to_s
        return host if host.start_with?(*UNIX)

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
        raise OptionTypes::Invalid, WANTED if path == "//"

        refuse_ambiguous(path)
        path = path.delete_prefix("//") if path.start_with?("//@")
        at(path.start_with?("~") ? FileName.absolute(path) : path)
      rescue ArgumentError # ~name, and there is no such user
        raise OptionTypes::Invalid, WANTED
      end

      def refuse_ambiguous(path)
        if AMBIGUOUS.match?(path.b)
          raise OptionTypes::Invalid, "a unix path without %20, ? and #, which puma reads otherwise than nginx"
        end
        return unless path.b.match?(%r{\A//[^/@]})

        name = path.delete_prefix("//")
        raise OptionTypes::Invalid, "unix:///#{name} (as nginx and unicorn read it) or unix:#{name} (as puma reads it)"
      end

      # The path is made absolute, because the socket is unlinked at exit, and the application may have changed the
      # working directory.
      def at(path)
        raise OptionTypes::Invalid, WANTED if ["", "@"].include?(path) || path.include?("\0")

        path = path.start_with?("@") ? path.to_str : absolute(path)
        check_length(path)
        new(path: path)
      end

      def check_length(path)
        return unless path.bytesize > LONGEST_PATH

        raise OptionTypes::Invalid, "a unix path of at most #{LONGEST_PATH} bytes (#{path} has #{path.bytesize})"
      end

      def absolute(path)
        FileName.absolute(path.start_with?("~") ? "./#{path}" : path.b.sub(%r{\A/+}, "/"))
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
