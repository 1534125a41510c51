# frozen_string_literal: true

require "json"

module Bontebok
  # The messages on the control socket: a JSON object on a line of its own. A client sends one request. The server sends
  # any number of progress messages, then the result, and closes the connection.
  #
  #   request    { "version": 1, "command": "deploy", ... arguments of the command ... }
  #   progress   { "version": 1, "text": "..." }, or { "version": 1, "log": "..." } with a part of the log
  #   result     { "version": 1, "status": 0, "text": "..." }; status: the exit status for the command
  module ControlMessage
    VERSION = 1
    # Bytes of the longest request.
    LONGEST = 16 * 1024

    # Raised if a message is malformed or has another version.
    class Invalid < StandardError; end

    class << self
      # The texts may have any bytes, because an application has written them.
      def line(message)
        clean = message.transform_values { |value| value.is_a?(String) ? text(value) : value }
        "#{JSON.generate({ version: VERSION, **clean })}\n"
      end

      def text(bytes)
        bytes.dup.force_encoding(Encoding::UTF_8).scrub
      end

      # Returns a Hash with Strings as keys.
      def parse(line)
        message = JSON.parse(line)
        raise Invalid, "a message is a JSON object" unless message.is_a?(Hash)
        return message if message["version"] == VERSION

        raise Invalid, "version #{VERSION} of the messages is spoken here, not #{message['version'].inspect}"
      rescue JSON::ParserError
        raise Invalid, "a message is a JSON object"
      end
    end
  end
end
