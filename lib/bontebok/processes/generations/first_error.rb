# frozen_string_literal: true

require "json"

module Bontebok
  # The first error in what an executed master has written: entries of the log (Log), or text of Ruby or
  # Bundler. One line of text, for the note about a deploy that has failed. The application may write the same stream,
  # so an entry can have values of any type.
  module FirstError
    # An entry of the log as text, and as JSON.
    TEXT = /^\S+Z error \d+ \S+ \S+ (.+)$/
    JSON_ENTRY = /^\{.*"level":"error".*\}$/
    # An entry of another level.
    OTHER = /\A(?:\S+Z (?:info|warn) \d+ |\{"time")/

    class << self
      # nil: there is none.
      def in(bytes)
        text = bytes.dup.force_encoding(Encoding::UTF_8).scrub("?")
        text[TEXT, 1] || json(text[JSON_ENTRY]) || text.each_line(chomp: true).find { |line| fault?(line) }
      end

      private

      def fault?(line)
        !line.strip.empty? && !line.match?(OTHER)
      end

      def json(line)
        return unless line

        entry = JSON.parse(line)
        texts = [entry["message"], *(entry["exception"]["message"] if entry["exception"].is_a?(Hash))]
        texts.grep(String).join(": ").lines(chomp: true).first
      rescue JSON::ParserError
        nil
      end
    end
  end
end
