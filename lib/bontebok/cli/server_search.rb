# frozen_string_literal: true

require_relative "../sockets/control/control_connection"
require_relative "../start_error"
require_relative "../system/file_name"

module Bontebok
  # Looks for the control socket of the server that runs in the working directory. If the option `control` is not set,
  # the server may have another environment than the command, and has chosen another place. Used by ControlCommand and
  # Check.
  class ServerSearch
    # The socket in the directory tmp belongs to the application's directory, like its code. So it is trusted.
    IN_TMP = "/tmp/bontebok.control"
    private_constant :IN_TMP

    def initialize(config)
      @config = config
      @places = config.control_places
    end

    # Raises StartError if no server takes commands there. deadline: see ControlConnection.
    def self.connect(path, deadline)
      return ControlConnection.new(path, deadline) unless OptionTypes::ControlPath.unset?(path)

      raise StartError, "the server has no control socket: `control` is none"
    end

    # Returns a ControlConnection. The command must use this one: a second one could lead to another process. Raises
    # StartError if no server takes commands. deadline: see ControlConnection.
    def connection(deadline = Deadline.new(ControlConnection::PATIENCE))
      return ServerSearch.connect(@config[:control], deadline) unless @config.source(:control) == "default"

      paths = [@config[:control], FileName.text("#{Dir.pwd}#{IN_TMP}"), *@places.paths].uniq
      paths.lazy.filter_map { |path| connection_to(path, deadline) }.first || fail_to_find(paths)
    end

    private

    # Returns nil if no server listens at the path, or one that may not be believed.
    def connection_to(path, deadline)
      return unless File.socket?(path)

      connection = ControlConnection.new(path, deadline)
      return connection if path.end_with?(IN_TMP) || believed?(path, connection)

      connection.close
    rescue StartError => e
      connection&.close
      @error ||= e
      nil
    end

    # Others can write to some of the directories. A link there could lead to the socket of any server. So the server
    # must have created the socket under this name, perhaps with an ending (SharedUnixListener).
    def believed?(path, connection)
      connection.name.start_with?(File.basename(path)) && @places.trusted?(path, connection.user)
    end

    # If there is a socket, its error says more.
    def fail_to_find(paths)
      raise @error if @error

      looked = paths.reject { |path| path.end_with?(IN_TMP) && !File.directory?("tmp") }.join(", ")
      raise StartError, "no server takes commands at #{looked}#{"; #{@places.fault}" if @places.fault}\n" \
                        "`--directory` names the server's directory, `--control` its socket"
    end
  end
end
