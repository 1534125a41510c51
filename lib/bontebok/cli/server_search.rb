# frozen_string_literal: true

require_relative "../sockets/control/control_connection"
require_relative "../start_error"

module Bontebok
  # Looks for the control socket of the server that runs in the working directory. If the option Control is not set,
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

    # The socket at which a server takes commands, else a file of a socket. Raises StartError if there is none.
    def path
      return @config[:control] unless @config.source(:control) == "default"

      paths = [@config[:control], "#{Dir.pwd}#{IN_TMP}", *@places.paths].uniq
      paths.find { |path| takes_commands?(path) } || fail_to_find(paths)
    end

    private

    def takes_commands?(path)
      return false unless File.socket?(path)

      connection = ControlConnection.new(path)
      path.end_with?(IN_TMP) || @places.trusted?(path, connection.user)
    rescue StartError => e
      @error ||= e
      false
    ensure
      connection&.close
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
