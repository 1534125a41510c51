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
      # The texts may have any bytes: an application has written them, or they are the names of files.
      def line(message)
        "#{JSON.generate({ version: VERSION, **clean(message) })}\n"
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

      private

      def clean(value)
        case value
        when String then value.dup.force_encoding(Encoding::UTF_8).scrub
        when Array then value.map { |one| clean(one) }
        when Hash then value.transform_values { |one| clean(one) }
        else value
        end
      end
    end
  end
end
